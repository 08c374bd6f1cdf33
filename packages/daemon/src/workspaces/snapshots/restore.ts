import { CorralError } from "@corral/protocol";
import { posix } from "node:path";
import { removeWaits } from "../hazards.ts";
import type { Repository } from "./repository.ts";

/** Before anything is done. Throws `not-found`. */
export function mustBeInside(paths: readonly string[] = []): void {
  const outside = paths.filter((path) => /^(\/|\.\.(\/|$))/.test(posix.normalize(path)));
  if (outside.length > 0) throw noSuchPath(outside);
}

/**
 * The tree that the workspace is to hold: the snapshot's, or the present one with these paths as they were. What was not there
 * then is to go.
 */
export async function wantedTree(
  repository: Repository,
  { present, snapshot, paths }: { present: string; snapshot: string; paths: readonly string[] | undefined },
): Promise<string> {
  if (paths === undefined) return snapshot;
  const variables = { GIT_LITERAL_PATHSPECS: "1", GIT_INDEX_FILE: "/tmp/index" };
  const { ok, stdout, stderr } = await repository.run(mix, [present, snapshot, ...paths], { variables });
  if (stderr.includes(unknownPath)) throw noSuchPath(paths);
  if (!ok) throw new Error(stderr.trim());
  return stdout.toString("utf8").trim();
}

/** Makes the workspace hold the tree. Files that are as they should be are left alone; nothing is written through links. */
export async function checkOutTree(repository: Repository, tree: string): Promise<void> {
  const { ok, stderr } = await repository.run(checkOut, [tree], { writes: "workspace" });
  if (!ok) throw new Error(stderr.trim());
}

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
GIT_INDEX_FILE=/tmp/index exec git read-tree --reset -u "$1"`;

function noSuchPath(paths: readonly string[]): CorralError {
  return new CorralError("not-found", `Neither the snapshot nor the workspace has ${paths.join(", ")}.`, {
    hint: "Paths count from the top of the workspace; `corral snapshots diff SNAPSHOT` shows what differs",
  });
}
