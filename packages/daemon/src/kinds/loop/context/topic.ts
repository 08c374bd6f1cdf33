import { createHash } from "node:crypto";

/** Something that a model is told besides what people say to it, in the version that it has now. */
export interface Topic {
  readonly name: string;
  readonly text: string;
}

/** Tells whether it is to be told again. */
export function versionOfTopic({ text }: Topic): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** What is told of something that is no more. */
export const gone = "gone";

/** As it stands in the standing instructions. What somebody else wrote cannot end it early. */
export function written({ name, text }: Topic): string {
  return `<${tag} topic=${JSON.stringify(name)}>\n${text.replaceAll(`</${tag}`, `<\\/${tag}`)}\n</${tag}>`;
}

/** As it is told later. */
export function told(topic: Topic, how: "new" | "changed"): string {
  const words = how === "new" ? "This applies, too, from now on" : "This has changed";
  return `(${words}; Corral tells you, not the user.)\n${written(topic)}`;
}

export function toldGone(name: string): string {
  return `(Corral tells you, not the user: ${name} is no longer there. What it said does not count any more.)`;
}

const tag = "context";
