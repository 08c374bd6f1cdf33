import { randomUUID } from "node:crypto";
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fault } from "../faults/index.ts";
import { gitReading, type GitSource } from "../git/index.ts";
import type { UserRepo } from "./user-repo.ts";

/**
 * New objects on their way into the user's repository. Git writes them to a folder of their own, as it does for a push, and they
 * are moved in once they are accepted.
 *
 * 1. Until then the repository is as it was. What is not accepted is removed.
 * 2. Where the folder is, is noted in Corral's home first: what a killed daemon left is removed at the next start. Git's own
 *    `gc` knows such folders by their name and removes them, too.
 * 3. It lies inside of the repository's object folder, so that moving objects in is a rename.
 */
export interface Quarantine {
  /** The repository, with new objects going to the quarantine. */
  readonly user: UserRepo;
  /** Runs git with what another program writes as its input. */
  receive(args: readonly string[], source: GitSource): ReturnType<typeof gitReading>;
  /** Moves all objects in, but for these. */
  accept(options?: { readonly except?: readonly string[] }): Promise<void>;
}

/** `note`: a file of Corral's own, of whoever brings the objects alone. */
export async function inQuarantine<T>(
  user: UserRepo,
  note: string,
  work: (quarantine: Quarantine) => Promise<T>,
): Promise<T> {
  const objects = join(user.source.commonFolder, "objects");
  const folder = join(objects, `${folderPrefix}${randomUUID()}`);
  await removeNoted(note);
  await writeFile(note, folder, { mode: 0o600 });
  try {
    await mkdir(folder, { mode: 0o700 });
    if (user.as !== undefined) await chown(folder, user.as.uid, user.as.gid);
    const variables = { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(objects) };
    return await work({
      user: {
        ...user,
        git: (args, options = {}) => user.git(args, { ...options, variables: { ...variables, ...options.variables } }),
      },
      receive: (args, source) => gitReading(user.source.worktree, args, { source, as: user.as, variables }),
      async accept({ except = [] } = {}) {
        for (const object of except) await rm(join(folder, object.slice(0, 2), object.slice(2)), { force: true });
        fault("quarantine.accepted");
        await moveIn(folder, objects);
      },
    });
  } finally {
    await removeNoted(note);
  }
}

/** Removes what a killed daemon left, by the notes in this folder. */
export async function removeLeftQuarantines(notes: string): Promise<void> {
  const names = await readdir(notes).catch((): string[] => []);
  for (const name of names) if (name.endsWith(noteSuffix)) await removeNoted(join(notes, name));
}

/** What the names of notes end with. */
export const noteSuffix = ".incoming";

const folderPrefix = "tmp_objdir-corral-";

async function removeNoted(note: string): Promise<void> {
  const folder = await readFile(note, "utf8").catch(() => "");
  // A note may have been cut short by a loss of power.
  if (/\/objects\/tmp_objdir-corral-[0-9a-f-]{36}$/.test(folder)) await rm(folder, { recursive: true, force: true });
  await rm(note, { force: true });
}

/** A pack counts from when its index is there, so that comes last. */
async function moveIn(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name !== "pack" && !/^[0-9a-f]{2}$/.test(name)) continue;
    fault("quarantine.moving");
    if (await isMovedWhole(join(from, name), join(to, name))) continue;
    const files = await readdir(join(from, name));
    const inOrder = files.toSorted((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")));
    for (const file of inOrder) await rename(join(from, name, file), join(to, name, file));
  }
}

/** A folder of objects that is not there yet comes as git made it, with the owner and the rights that it is to have. */
async function isMovedWhole(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/** As git wants paths in a list. */
function quoted(path: string): string {
  return `"${path
    .replaceAll("\\", "\\\\")
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`)}"`;
}
