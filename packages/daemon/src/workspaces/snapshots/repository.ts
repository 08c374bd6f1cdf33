import { chown, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GitJail, insideGitJail, type JailedAnswer, type Reply, runJailed } from "../../git/index.ts";
import { give, type Owner } from "../copy.ts";
import { gitApart } from "../depot.ts";
import { layOut } from "../layout.ts";
import type { Source } from "../source.ts";

/**
 * A git folder of Corral's own that holds a session's snapshots, as trees. Git runs on it in a jail, with the session's
 * workspace read-only, and obeys nothing that is there.
 *
 * 1. No jail of a session sees it. There is one user of it at a time; a lock found in it is of one that was killed.
 * 2. It borrows the objects of the user's repository, and nothing that an agent can write (but for work in place).
 * 3. It has no refs: which trees count, the log says.
 * 4. Content is kept byte by byte: no attribute changes it on the way in or out.
 */
export interface Repository {
  readonly folder: string;
  /** Runs a shell script of Corral's own at the top of the workspace. Names and texts are its arguments, never its text. */
  run(script: string, args?: readonly string[], options?: RunOptions): Promise<JailedAnswer>;
}

export interface RepositoryPlace {
  readonly folder: string;
  /** Where it is; when it is gone, an empty folder takes its place. */
  readonly workspace: string;
  /** Object folders that are borrowed from, as they are named inside. */
  readonly objects: readonly string[];
  /** Those of them that have to be shown. */
  readonly readable: readonly string[];
  readonly owner: Owner | undefined;
  readonly signal: AbortSignal;
}

export interface RunOptions {
  readonly input?: Uint8Array;
  readonly reply?: Reply;
  readonly variables?: Readonly<Record<string, string>>;
  readonly covered?: readonly string[] | undefined;
  readonly writes?: "workspace";
  readonly maxBytes?: number;
}

export async function openRepository(
  source: Pick<Source, "objectFormat" | "excludes">,
  place: RepositoryPlace,
): Promise<Repository> {
  const { folder, owner, signal } = place;
  await make(source, place);
  for (const left of ["index.lock", "new.pack", "early", "late"]) await rm(join(folder, left), { force: true });
  const workspace = (await isFolder(place.workspace)) ? place.workspace : join(folder, "nothing");
  const jail: GitJail = { workspace, readable: place.readable, depot: folder, user: owner };
  const own = { GIT_WORK_TREE: insideGitJail.workspace, GIT_INDEX_FILE: `${insideGitJail.depot}/index` };
  return {
    folder,
    run: (script, args = [], { covered, writes, variables, ...options } = {}) =>
      runJailed(
        {
          ...jail,
          ...(writes && { writes }),
          ...(covered && { covered }),
        },
        ["/bin/sh", "-c", `cd ${insideGitJail.workspace} || exit 1\n${script}`, "sh", ...args],
        { signal, ...options, variables: { ...own, ...variables } },
      ),
  };
}

/** Git on what was kept, away from the workspace. */
export function gitIn(repository: Repository, encoding: "utf8" | "latin1") {
  return gitApart(
    (args, { input, ...options }) =>
      repository.run('cd /tmp && exec git "$@"', args, { ...options, ...(input && { input: Buffer.from(input) }) }),
    encoding,
  );
}

/** Takes a file into it that was made elsewhere, for the programs in the jail to change. */
export async function moveInto(folder: string, from: string, name: string, owner: Owner | undefined): Promise<void> {
  if (owner !== undefined) await chown(from, owner.uid, owner.gid);
  await rename(from, join(folder, name));
}

async function make(
  source: Pick<Source, "objectFormat" | "excludes">,
  { folder, objects, owner }: RepositoryPlace,
): Promise<void> {
  const ready = join(folder, "ready");
  const isMade = await isThere(ready);
  if (!isMade) await mkdir(join(folder, "nothing"), { recursive: true, mode: 0o700 });
  if (!isMade) layOut(folder, { source: { ...source, refs: "", shallow: undefined }, objects });
  else await writeFile(join(folder, "info/exclude"), source.excludes);
  if (isMade && owner !== undefined && (await stat(folder)).uid !== owner.uid) await give([folder], owner);
  if (isMade) return;
  await writeFile(join(folder, "info/attributes"), "* -text -eol -filter -ident -working-tree-encoding\n");
  if (owner !== undefined) await give([folder], owner);
  await writeFile(ready, "");
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
