import { CorralError } from "@corral/protocol";

/** The same words for what is not there and for what is out of bounds. */
export function missing(noun: keyof typeof lists, id: string | undefined): CorralError {
  return new CorralError("not-found", `There is no ${noun} ${id}`, { hint: `\`${lists[noun]}\` lists them` });
}

const lists = {
  session: "corral sessions",
  project: "corral projects",
  token: "corral token list",
  shell: "corral shell --list",
  artifact: "corral artifacts",
  snapshot: "corral snapshots",
  question: "corral questions",
} as const;
