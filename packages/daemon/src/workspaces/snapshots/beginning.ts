import { copyFile, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { GitFailure, insideGitJail } from "../../git/index.ts";
import type { Owner } from "../copy.ts";
import { moveInto, type Repository } from "./repository.ts";

export interface Beginning {
  /** The commit that the workspace began with; empty when there was none. */
  readonly base: string;
  /** Of the user's, whose objects are borrowed; undefined when nothing is. */
  readonly borrowed: string | undefined;
  /** An index of the files as they were checked out, by which the first snapshot costs as little as a later one. */
  readonly index: { readonly file: string; readonly how: "move" | "copy" };
  readonly owner: Owner | undefined;
}

export interface Begun {
  readonly tree: string;
  /** A file with objects that only the workspace had, as a pack. */
  readonly pack: string | undefined;
}

/** The tree that a workspace began with. Nothing is hashed for it; objects that only the workspace has are taken over. */
export async function beginFrom(repository: Repository, wish: Beginning): Promise<Begun> {
  const { base, borrowed } = wish;
  const seeded = await seed(repository, wish);
  const isBorrowed = base === "" || borrowed === base;
  const args = [base, isBorrowed ? "" : "adopt", borrowed ?? "", seeded ? "" : "index"];
  const variables: Record<string, string> = isBorrowed
    ? {}
    : { GIT_ALTERNATE_OBJECT_DIRECTORIES: `${insideGitJail.workspace}/.git/objects` };
  const { ok, stdout, stderr } = await repository.run(begin, args, { variables });
  if (!ok) throw new GitFailure(stderr);
  return { tree: stdout.toString("utf8").trim(), pack: isBorrowed ? undefined : join(repository.folder, "new.pack") };
}

/** An index that says of no file that it is as in the tree: whatever there is, is read once. */
export async function forgetFiles(repository: Repository, tree: string): Promise<void> {
  await rm(join(repository.folder, "index"), { force: true });
  const { ok, stderr } = await repository.run(`git read-tree --reset "$1" && ${split}`, [tree]);
  if (!ok) throw new GitFailure(stderr);
}

/** False: there is none, or it is of another tree, and one has to be made. */
async function seed({ folder }: Repository, { index, owner }: Beginning): Promise<boolean> {
  if (!((await lstat(index.file).catch(() => undefined))?.isFile() ?? false)) return false;
  if (index.how === "move") {
    await moveInto(folder, index.file, "index", owner);
    return true;
  }
  await copyFile(index.file, join(folder, "index.copy"));
  await moveInto(folder, join(folder, "index.copy"), "index", owner);
  return false;
}

/** Of a large index only what changed is written, each time. */
const split = "git update-index --split-index";

const begin = `
base=$1
if [ -z "$base" ]; then
  git read-tree --empty || exit 1
  exec git hash-object -t tree --stdin </dev/null
fi
if [ "$2" = adopt ]; then
  pack=${insideGitJail.depot}/new.pack
  { echo "$base^{tree}"; [ -n "$3" ] && echo "^$3"; } | git pack-objects --revs --stdout -q >$pack || exit 1
  git index-pack --stdin <$pack >/dev/null || exit 1
fi
if [ "$4" = index ]; then
  git read-tree --reset "$base" 2>/dev/null || { rm -f "$GIT_INDEX_FILE"; git read-tree --reset "$base"; } || exit 1
fi
${split} || exit 1
exec git rev-parse "$base^{tree}"`;
