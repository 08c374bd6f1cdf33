import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Remote, Source } from "./source.ts";

/** Writes a git folder of Corral's own, from nothing: what it obeys is in these lines. At once: through threads the few small files take ten times as long. */
export function layOut(
  gitFolder: string,
  { source, objects, remotes = [] }: { source: Layout; objects: readonly string[]; remotes?: readonly Remote[] },
): void {
  const folders = ["objects/info", "objects/pack", "refs/heads", "hooks", "info"];
  for (const folder of folders) mkdirSync(join(gitFolder, folder), { recursive: true });
  const files = {
    // Git takes a folder without it for none of its own, and looks further up.
    HEAD: "ref: refs/heads/corral\n",
    config: config(source.objectFormat, remotes),
    "objects/info/alternates": objects.map((path) => `${quoted(path)}\n`).join(""),
    "packed-refs": source.refs,
    "info/exclude": source.excludes,
    ...(source.shallow !== undefined && { shallow: source.shallow }),
  };
  for (const [name, text] of Object.entries(files)) put(join(gitFolder, name), text);
}

/** What says the same already is left as it is: file systems write at once what is written over. */
function put(path: string, text: string): void {
  if (textOf(path) !== text) writeFileSync(path, text);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

type Layout = Pick<Source, "objectFormat" | "refs" | "excludes" | "shallow">;

/** Puts HEAD on a branch; without a commit the branch is yet to be born. */
export function pointHead(gitFolder: string, branch: string, commit: string): void {
  const ref = join(gitFolder, "refs/heads", branch);
  mkdirSync(dirname(ref), { recursive: true });
  if (commit !== "") writeFileSync(ref, `${commit}\n`);
  writeFileSync(join(gitFolder, "HEAD"), `ref: refs/heads/${branch}\n`);
}

function config(objectFormat: string, remotes: readonly Remote[]): string {
  const isOld = objectFormat === "sha1";
  return [
    "[core]",
    `\trepositoryformatversion = ${isOld ? 0 : 1}`,
    "\tfilemode = true",
    "\tbare = false",
    "\tlogallrefupdates = true",
    ...(isOld ? [] : ["[extensions]", `\tobjectformat = ${objectFormat}`]),
    // Objects are borrowed: packing them would copy the whole history.
    "[gc]",
    "\tauto = 0",
    ...remotes.flatMap(({ name, url }) => [
      `[remote "${name}"]`,
      `\turl = ${quoted(url, "always")}`,
      // Git says it when asked to push: nothing in a jail has the user's keys, and a branch comes by itself.
      `\tpushurl = ${quoted(noPush, "always")}`,
      `\tfetch = +refs/heads/*:refs/remotes/${name}/*`,
    ]),
    "",
  ].join("\n");
}

/** A place that is none. */
const noPush = "/dev/null/no push from here, Corral brings commits into the user's repository";

function quoted(text: string, when: "always" | "needed" = "needed"): string {
  if (when === "needed" && !/^["#]|\n/.test(text)) return text;
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
