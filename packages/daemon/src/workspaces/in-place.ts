import { CorralError } from "@corral/protocol";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { holdsObjectsAlone } from "./alternates.ts";
import type { Workspace } from "./prepare.ts";
import { inspect } from "./source.ts";

/**
 * The project's own folder as a workspace. Nothing is copied or changed; what an agent does there is done. After each
 * activity Corral commits a copy of what the folder holds to a branch of its own; the user's branch and index stay the user's.
 */
export async function openInPlace(
  repo: string,
  { branch, mayBeRoots }: { branch: string; mayBeRoots: boolean },
): Promise<Workspace> {
  const source = await inspect(repo);
  const { uid } = await stat(source.worktree);
  if (!mayBeRoots && uid === 0)
    throw new CorralError(
      "workspace.foreign",
      `${source.worktree} belongs to root, and nothing in a jail may be root.`,
      {
        hint: "Work on a copy (--workspace copy), or give the folder to an ordinary user.",
      },
    );
  const { worktree: path, head, remotes, variables } = source;
  const objects = join(source.commonFolder, "objects");
  // A linked worktree has its objects elsewhere.
  const readable = !objects.startsWith(`${path}/`) && (await holdsObjectsAlone(objects)) ? [objects] : [];
  return {
    path,
    branch,
    base: head,
    head,
    readable,
    variables,
    remotes,
    // What is in the folder is there.
    notes: { submodules: [], lfs: false },
    way: "in place",
    extras: [],
    skipped: [],
  };
}
