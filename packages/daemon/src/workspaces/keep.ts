import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { git } from "../git/index.ts";
import { ownerOf } from "./user-repo.ts";

/**
 * Refs of Corral's own in a user's repo, below `refs/corral/keep/`: what a copy and its snapshots borrow outlives a rewritten
 * history and its `git gc`. Where they are is written down beside the copy first, and stays for as long as anything could need them.
 *
 * Where a repo cannot be written to nothing is kept, and nothing is the worse for it until somebody collects what is borrowed.
 */
export async function keepFor(
  destination: string,
  { commonFolder, commits }: { readonly commonFolder: string; readonly commits: readonly string[] },
): Promise<void> {
  const wanted = [...new Set(commits)].filter(Boolean);
  if (wanted.length === 0) return;
  await writeFile(noteOf(destination), commonFolder, { mode: 0o600 });
  for (const commit of wanted) await point(commonFolder, `${refsOf(destination)}/${commit}`, commit);
}

/** For a copy that is no more, nor anything made of it. Can be repeated. */
export async function letGoFor(destination: string): Promise<void> {
  const commonFolder = await readFile(noteOf(destination), "utf8").catch(() => undefined);
  if (commonFolder === undefined) return;
  const as = await ownerOf(commonFolder).catch(() => undefined);
  const listed = await git(commonFolder, [
    "for-each-ref",
    "--format=delete %(refname)",
    `${refsOf(destination)}/`,
  ]).catch(() => undefined);
  if (listed?.ok === true && listed.stdout !== "")
    await git(commonFolder, ["update-ref", "--no-deref", "--stdin"], { as, input: listed.stdout });
  await rm(noteOf(destination), { force: true });
}

async function point(commonFolder: string, ref: string, commit: string): Promise<void> {
  const as = await ownerOf(commonFolder);
  const set = () => git(commonFolder, ["update-ref", "--no-deref", ref, commit], { as });
  if ((await set()).ok) return;
  // Nobody else has anything to do with this name: a lock is of one that was killed.
  await rm(join(commonFolder, `${ref}.lock`), { force: true }).catch(() => undefined);
  await set();
}

function refsOf(destination: string): string {
  return `refs/corral/keep/${basename(destination)}`;
}

/** Beside the copy, where no agent can write. */
function noteOf(destination: string): string {
  return `${destination}.kept`;
}
