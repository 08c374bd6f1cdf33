import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { CorralError, type EnvironmentState, type ShellId } from "@corral/protocol";
import { type Owner, removeFolder, workspaceIn } from "../environments/index.ts";
import { letGoFor, prepareWorkspace } from "../workspaces/index.ts";

/** The files that a shell works on. */
export interface Place {
  readonly path: string;
  readonly readable: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** The commit that a copy starts from; empty when there is none yet. */
  readonly base?: string | undefined;
}

/** A copy of the repository, under the shell's own name. What a killed call left is taken up. */
export async function copyFor(
  shell: ShellId,
  { home, repository, owner }: { home: string; repository: string; owner: Owner | undefined },
): Promise<Place> {
  const { path, base, readable, variables } = await prepareWorkspace({
    repo: repository,
    destination: join(home, "workspaces", shell),
    branch: `corral/${shell}`,
    owner,
  });
  return { path, base, readable, variables };
}

/** The repository's own folder. */
export function inPlace(repository: string, owner: Owner | undefined): Place {
  const found = statSync(repository, { throwIfNoEntry: false });
  if (found === undefined) throw new CorralError("project.missing", `There is no folder ${repository}.`);
  if (owner !== undefined && found.uid === 0) throw rootsOwn(repository);
  return { path: repository, readable: [], variables: {} };
}

/** An empty folder. */
export function scratchFor(shell: ShellId, home: string, owner: Owner | undefined): Place {
  const path = join(home, "workspaces", shell);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
  return { path, readable: [], variables: {} };
}

/**
 * A command that succeeds only where removing the files loses nothing: a folder with nothing but folders in it (walls put some
 * there), or a copy in which there is neither a change nor a commit of its own. It runs where the shell's own commands run, and may be lied to by them alone.
 */
export function unchangedTest({ base }: Pick<Place, "base">, state: EnvironmentState): string {
  const inside = `cd ${quoted(workspaceIn(state))}`;
  if (base === undefined) return `(${inside} && command test -z "$(command find . ! -type d 2>&1)")`;
  const tips = `command git for-each-ref --format='%(objectname)' refs/heads refs/stash | command sort -u`;
  const clean = `command test -z "$(command git status --porcelain 2>&1)"`;
  // HEAD may be on no branch, or where somebody else's is.
  const own = `command git rev-list -n 1 HEAD --not ${quoted(base)} --remotes 2>&1`;
  const away = base === "" ? "! command git rev-parse -q --verify HEAD" : `command test -z "$(${own})"`;
  return `(${inside} && ${clean} && ${away} && command test "$(${tips})" = ${quoted(base)})`;
}

/** The files and what was noted of them. */
export async function removePlace({ path }: Pick<Place, "path">): Promise<void> {
  await removeFolder(path);
  await letGoFor(path);
  for (const beside of ["json", "index"]) await removeFolder(`${path}.${beside}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function rootsOwn(path: string): CorralError {
  return new CorralError("workspace.foreign", `${path} belongs to root, and nothing in a jail may be root.`, {
    hint: "Work on a copy (--workspace copy), or give the folder to an ordinary user.",
  });
}
