import { CorralError } from "@corral/protocol";
import { posix } from "node:path";
import { GitFailure } from "../../git/index.ts";
import { removeWaits } from "../hazards.ts";
import type { Skipped } from "../staging.ts";
import type { Repository } from "./repository.ts";

/** Before anything is done. Throws `not-found`. */
export function mustBeInside(paths: readonly string[] = []): void {
  const outside = paths.filter((path) => /^(\/|\.\.(\/|$))/.test(posix.normalize(path)));
  if (outside.length > 0) throw noSuchPath(outside);
}

/** What to write, and which files to leave alone. Throws `not-found` for paths that are nowhere, and `workspace.overlap`. */
export async function planRestore(
  repository: Repository,
  { snapshot, paths, now }: RestoreWish,
): Promise<{ readonly wanted: string; readonly left: readonly string[] }> {
  const present = now.tree;
  const wanted = await wantedTree(repository, { present, snapshot, paths });
  return { wanted, left: await unkept(repository, { present, wanted, paths, skipped: now.skipped }) };
}

export interface RestoreWish {
  /** The tree of the snapshot. */
  readonly snapshot: string;
  readonly paths: readonly string[] | undefined;
  /** What the workspace holds. */
  readonly now: { readonly tree: string; readonly skipped: readonly Skipped[] };
}

/**
 * The tree that the workspace is to hold: the snapshot's, or the present one with these paths as they were. What was not there
 * then is to go.
 */
async function wantedTree(
  repository: Repository,
  { present, snapshot, paths }: { present: string; snapshot: string; paths: readonly string[] | undefined },
): Promise<string> {
  if (paths === undefined) return snapshot;
  const variables = { GIT_LITERAL_PATHSPECS: "1", GIT_INDEX_FILE: "/tmp/index" };
  const { ok, stdout, stderr } = await repository.run(mix, [present, snapshot, ...paths], { variables });
  if (stderr.includes(unknownPath)) throw noSuchPath(paths);
  if (!ok) throw new GitFailure(stderr);
  return stdout.toString("utf8").trim();
}

/**
 * Files of the workspace that no snapshot has as they are now, since they could not be kept. Those that would be replaced keep the
 * rest from being restored, for nothing could bring them back: throws `workspace.overlap`. Tells those that are to be left alone.
 */
async function unkept(
  repository: Repository,
  { present, wanted, paths, skipped }: Wanted & { readonly skipped: readonly Skipped[] },
): Promise<readonly string[]> {
  const lacking = skipped.filter(({ why }) => why !== "neither file nor link" && why !== "odd name");
  if (lacking.length === 0) return [];
  if (lacking.length > mostUnkept || lacking.some(({ why }) => why === "too many"))
    throw wouldBeLost(lacking.slice(0, 3).map(({ path }) => path));
  const names = lacking.map(({ path }) => path.replace(/\/$/, ""));
  const { ok, stdout, stderr } = await repository.run(known, [present, wanted, ...names]);
  if (!ok) throw new GitFailure(stderr);
  const there = [...new Set(stdout.toString("utf8").split("\0").filter(Boolean))];
  const replaced = there.filter((name) => isAsked(name, paths));
  if (replaced.length > 0) throw wouldBeLost(replaced);
  return there;
}

interface Wanted {
  readonly present: string;
  readonly wanted: string;
  readonly paths: readonly string[] | undefined;
}

const mostUnkept = 1000;

function isAsked(name: string, paths: readonly string[] | undefined): boolean {
  if (paths === undefined) return true;
  const plain = paths.map((path) => posix.normalize(path).replace(/\/$/, ""));
  return plain.some((path) => path === "." || path === name || name.startsWith(`${path}/`));
}

/** Makes the workspace hold the tree. Files that are as they should be, or in `left`, are left alone; nothing is written through links. */
export async function checkOutTree(repository: Repository, tree: string, left: readonly string[] = []): Promise<void> {
  const input = Buffer.from(left.map((name) => `${name}\0`).join(""));
  const { ok, stderr } = await repository.run(checkOut, [tree], { writes: "workspace", input });
  if (!ok) throw new GitFailure(stderr);
}

const known = `
present=$1; wanted=$2; shift 2
git ls-tree -r -z --name-only --full-tree "$present" -- "$@" || exit 1
exec git ls-tree -r -z --name-only --full-tree "$wanted" -- "$@"`;

const unknownPath = "corral: no such path";

const mix = `
present=$1; snapshot=$2; shift 2
git read-tree "$present" || exit 1
git ls-files -z -- "$@" >/tmp/gone
git ls-tree -r -z --full-tree "$snapshot" -- "$@" >/tmp/back || exit 1
[ -s /tmp/gone ] || [ -s /tmp/back ] || { echo '${unknownPath}' >&2; exit 1; }
git update-index -z --force-remove --stdin </tmp/gone || exit 1
git update-index -z --index-info </tmp/back || exit 1
exec git write-tree`;

/** With the index where nothing but this is written: what the workspace links to is nothing else that can be. */
const checkOut = `
${removeWaits}
cp "$GIT_INDEX_FILE" /tmp/index || exit 1
export GIT_INDEX_FILE=/tmp/index
git update-index --skip-worktree -z --stdin || exit 1
exec git read-tree --reset -u "$1"`;

function noSuchPath(paths: readonly string[]): CorralError {
  return new CorralError("not-found", `Neither the snapshot nor the workspace has ${paths.join(", ")}.`, {
    hint: "Paths count from the top of the workspace; `corral snapshots diff SNAPSHOT` shows what differs",
  });
}

function wouldBeLost(names: readonly string[]): CorralError {
  const told = names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");
  return new CorralError("workspace.overlap", `What is there now could not be kept and would be lost: ${told}.`, {
    hint: "Nothing was changed. Move it aside, name the paths to restore, or raise snapshots.largestMb",
  });
}
