import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Remote, Source } from "./source.ts";

/** Writes a git folder of Corral's own, from nothing: what it obeys is in these lines. */
export async function layOut(
  gitFolder: string,
  { source, objects, remotes = [] }: { source: Layout; objects: readonly string[]; remotes?: readonly Remote[] },
): Promise<void> {
  for (const folder of ["objects/info", "objects/pack", "refs/heads", "hooks", "info"])
    await mkdir(join(gitFolder, folder), { recursive: true });
  // Git takes a folder without it for none of its own, and looks further up.
  await writeFile(join(gitFolder, "HEAD"), "ref: refs/heads/corral\n");
  await writeFile(join(gitFolder, "config"), config(source.objectFormat, remotes));
  await writeFile(join(gitFolder, "objects/info/alternates"), objects.map((path) => `${quoted(path)}\n`).join(""));
  await writeFile(join(gitFolder, "packed-refs"), source.refs);
  await writeFile(join(gitFolder, "info/exclude"), source.excludes);
  if (source.shallow !== undefined) await writeFile(join(gitFolder, "shallow"), source.shallow);
}

type Layout = Pick<Source, "objectFormat" | "refs" | "excludes" | "shallow">;

/** Puts HEAD on a branch; without a commit the branch is yet to be born. */
export async function pointHead(gitFolder: string, branch: string, commit: string): Promise<void> {
  const ref = join(gitFolder, "refs/heads", branch);
  await mkdir(dirname(ref), { recursive: true });
  if (commit !== "") await writeFile(ref, `${commit}\n`);
  await writeFile(join(gitFolder, "HEAD"), `ref: refs/heads/${branch}\n`);
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
