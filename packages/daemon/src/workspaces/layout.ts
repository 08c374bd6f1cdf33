import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Remote, Source } from "./source.ts";

/** Writes a git folder of Corral's own, from nothing: what it obeys is in these lines. */
export async function layOut(
  gitFolder: string,
  { source, objects, remotes = [] }: { source: Layout; objects: readonly string[]; remotes?: readonly Remote[] },
): Promise<void> {
  const folders = ["objects/info", "objects/pack", "refs/heads", "hooks", "info"];
  await Promise.all(folders.map((folder) => mkdir(join(gitFolder, folder), { recursive: true })));
  const files = {
    // Git takes a folder without it for none of its own, and looks further up.
    HEAD: "ref: refs/heads/corral\n",
    config: config(source.objectFormat, remotes),
    "objects/info/alternates": objects.map((path) => `${quoted(path)}\n`).join(""),
    "packed-refs": source.refs,
    "info/exclude": source.excludes,
    ...(source.shallow !== undefined && { shallow: source.shallow }),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => put(join(gitFolder, name), text)));
}

/** What says the same already is left as it is: file systems write at once what is written over. */
async function put(path: string, text: string): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => undefined);
  if (before !== text) await writeFile(path, text);
}

type Layout = Pick<Source, "objectFormat" | "refs" | "excludes" | "shallow">;

/** Puts HEAD on a branch; without a commit the branch is yet to be born. */
export async function pointHead(gitFolder: string, branch: string, commit: string): Promise<void> {
  const ref = join(gitFolder, "refs/heads", branch);
  await mkdir(dirname(ref), { recursive: true });
  await Promise.all([
    commit === "" ? undefined : writeFile(ref, `${commit}\n`),
    writeFile(join(gitFolder, "HEAD"), `ref: refs/heads/${branch}\n`),
  ]);
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
