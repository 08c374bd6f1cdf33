import { randomUUID } from "node:crypto";
import { chownSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type EnvironmentDriver, type Owner, ownerOf, removeFolder } from "../environments/index.ts";

/**
 * Empty folders for shells to work in. Several processes may make the same one at once, and one that was killed may have left it half made: whom it is
 * to belong to is on file first, and the first to write it there decides.
 */
export async function makeScratch(home: string, name: string, newOwner: NewOwner): Promise<Scratch> {
  const path = scratchFolder(home, name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (newOwner === undefined) return { path, owner: undefined };
  if (lstatSync(path).uid === 0) {
    const { uid, gid } = recorded(path) ?? (await record(path, newOwner));
    chownSync(path, uid, gid);
  }
  return { path, owner: ownerOf(path) };
}

export type NewOwner = EnvironmentDriver["newOwner"];

export interface Scratch {
  readonly path: string;
  /** Whom it belongs to, when that is not whoever this process runs as. */
  readonly owner: Owner | undefined;
}

export function scratchFolder(home: string, name: string): string {
  return join(home, "workspaces", name);
}

/** Can be repeated. */
export async function removeScratch(path: string): Promise<void> {
  await removeFolder(path);
  rmSync(recordOf(path), { force: true });
}

async function record(path: string, newOwner: NonNullable<NewOwner>): Promise<Owner> {
  const file = recordOf(path);
  const beside = join(dirname(file), `.${randomUUID()}`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const owner = await newOwner();
  try {
    writeFileSync(beside, JSON.stringify(owner), { mode: 0o600 });
    linkSync(beside, file);
    return owner;
  } catch (error) {
    const decided = recorded(path);
    if (decided === undefined) throw error;
    return decided;
  } finally {
    rmSync(beside, { force: true });
  }
}

function recorded(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(recordOf(path), "utf8")) as Owner;
  } catch {
    return undefined;
  }
}

/** Apart from the folders: anything may be the name of one. */
function recordOf(path: string): string {
  return join(dirname(dirname(path)), "owners", basename(path));
}
