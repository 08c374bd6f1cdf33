import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { unlessThere } from "../../system/unless-there.ts";
import { openEntry, openFolder } from "../entries.ts";

/**
 * Mount points that are missing in a jail's workspace. Stubs for them lie in the workspace while the jail lives.
 *
 * 1. A stub is written down before it is made, so a sweep finds what a killed process left. All records are in one folder; their names hold
 *    the workspace and the jail, so finding the others of a workspace means reading no unrelated record.
 * 2. A stub is removed only if it is still as it was made: an empty folder with the sticky bit, or a file with the same content.
 * 3. A stub that another jail has on record as well is left to that jail: removing it would remove that jail's mount.
 * 4. Nothing here follows a link: anyone who can write to the workspace could have put one there.
 */
export interface Stubs {
  readonly workspace: string;
  /** Relative to the workspace. */
  readonly folders: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** What the jail has a mount on, and so cannot replace; relative to the workspace. */
  readonly held?: readonly string[];
}

/** Nobody makes such a folder by chance, and its owner can write in it. */
const stubMode = 0o1755;
const sticky = 0o1000;

export function recordStubs(jailFolder: string, stubs: Stubs): void {
  const file = join(folderOf(jailFolder), nameOf(stubs.workspace, jailFolder));
  const write = () => writeFileSync(file, JSON.stringify(stubs), { mode: 0o600 });
  try {
    write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    write();
  }
}

/** False: something has come to be there meanwhile. */
export function makeStubFolder(parent: number, name: string): boolean {
  return unlessThere(() => mkdirSync(at(parent, name), { mode: stubMode }));
}

/** Has one that somebody else made in the meantime look like all the others. What is in use stays as it is. */
export function markStubFolder(fd: number): void {
  if ((fstatSync(fd).mode & sticky) === 0 && isEmpty(fd)) chmodSync(`/proc/self/fd/${fd}`, stubMode);
}

export function makeStubFile(parent: number, name: string, content: string): boolean {
  return unlessThere(() => writeFileSync(at(parent, name), content, { mode: 0o644, flag: "wx" }));
}

export function isStubFolder(fd: number): boolean {
  const found = fstatSync(fd);
  return found.isDirectory() && (found.mode & sticky) !== 0 && isEmpty(fd);
}

export function isEmpty(folder: number): boolean {
  return readdirSync(`/proc/self/fd/${folder}`).length === 0;
}

export function isStubFile(parent: number, name: string, content: string): boolean {
  let fd: number;
  try {
    fd = openSync(at(parent, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  try {
    const found = fstatSync(fd);
    return found.isFile() && found.size === Buffer.byteLength(content) && readFileSync(fd, "utf8") === content;
  } finally {
    closeSync(fd);
  }
}

/** To be called when no process of the jail is left. Can be repeated. */
export function removeStubs(jailFolder: string): void {
  const folder = folderOf(jailFolder);
  for (const name of namesIn(folder).filter((each) => each.endsWith(`.${basename(jailFolder)}`))) {
    const stubs = read(join(folder, name));
    // Its own jail has ended: others need not mind it any more.
    const ended = join(folder, name.startsWith(ending) ? name : `${ending}${name}`);
    if (stubs === undefined || !moved(join(folder, name), ended)) continue;
    unlessForbidden(() => removeFrom(stubs, neededByOthers(jailFolder, stubs.workspace)));
    rmSync(ended, { force: true });
  }
}

const ending = "ending-";

/** False: somebody else is at it. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function removeFrom({ workspace: path, folders, files }: Stubs, kept: ReadonlySet<string>): void {
  const workspace = openFolder(path);
  if (workspace === undefined) return;
  const remove = (path: string, act: (parent: number, name: string) => void) => {
    if (!kept.has(path)) unlessForbidden(() => within(workspace, path, act));
  };
  try {
    for (const path of folders) remove(path, removeFolderStub);
    for (const [path, content] of Object.entries(files)) {
      remove(path, (parent, name) => removeFileStub(parent, name, content));
    }
  } finally {
    closeSync(workspace);
  }
}

/** An agent may have closed its own folders. Then a stub stays, which harms nobody, and the jail can still be ended. */
function unlessForbidden(act: () => void): void {
  try {
    act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
  }
}

function removeFolderStub(parent: number, name: string): void {
  const found = lstatSync(at(parent, name), { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory() || (found.mode & sticky) === 0) return;
  try {
    rmdirSync(at(parent, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}

function removeFileStub(parent: number, name: string, content: string): void {
  if (isStubFile(parent, name, content)) unlinkSync(at(parent, name));
}

/** Goes from folder to folder, so that none of them can be a link; what is not there any more needs no care. */
function within(workspace: number, path: string, act: (parent: number, name: string) => void): void {
  const opened: number[] = [];
  try {
    let parent = workspace;
    for (const name of dirname(path)
      .split("/")
      .filter((each) => each !== ".")) {
      const next = openEntry(at(parent, name));
      if (next === undefined) return;
      opened.push(next.fd);
      if (next.kind !== "folder") return;
      parent = next.fd;
    }
    act(parent, basename(path));
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function neededByOthers(jailFolder: string, workspace: string): Set<string> {
  const same = stubsOfOthers(jailFolder, [workspace]);
  return new Set(same.flatMap(({ folders, files }) => [...folders, ...Object.keys(files)]));
}

/** Tells whether another jail that is open can put something else at a path in the workspace. */
export function replaceableByOthers(jailFolder: string, workspace: string): (path: string) => boolean {
  const others = stubsOfOthers(jailFolder, upwards(workspace));
  return (path) => others.some((other) => !isHeld(other, relative(other.workspace, join(workspace, path))));
}

/** In a folder that is covered there it cannot reach anything. */
function isHeld({ held = [], folders }: Stubs, path: string): boolean {
  return held.includes(path) || folders.some((folder) => path.startsWith(`${folder}/`));
}

/** Of jails that are open on one of the workspaces. */
function stubsOfOthers(jailFolder: string, workspaces: readonly string[]): Stubs[] {
  const folder = folderOf(jailFolder);
  const places = new Set(workspaces.map(placeName));
  const others = namesIn(folder).filter((name) => {
    const [place = "", jail = ""] = name.split(".", 2);
    return places.has(place) && jail !== basename(jailFolder) && isThere(dirname(folder), jail);
  });
  return others.flatMap((name) => read(join(folder, name)) ?? []);
}

/** Of a jail whose folder was taken away nothing is open. */
function isThere(environments: string, jail: string): boolean {
  return existsSync(join(environments, jail)) || existsSync(join(environments, containersFolder, jail));
}

/** A folder and those that it lies in. */
function upwards(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...upwards(above)];
}

/** Where the folders of containers are, below those of jails. */
export const containersFolder = "container";

/** One for all jails and containers. */
function folderOf(jailFolder: string): string {
  const parent = dirname(jailFolder);
  return join(basename(parent) === containersFolder ? dirname(parent) : parent, ".stubs");
}

function nameOf(workspace: string, jailFolder: string): string {
  return `${placeName(workspace)}.${basename(jailFolder)}`;
}

function placeName(workspace: string): string {
  return createHash("sha256").update(workspace).digest("hex").slice(0, 32);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): Stubs | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Stubs;
  } catch {
    return undefined;
  }
}

function at(parent: number, name: string): string {
  return `/proc/self/fd/${parent}/${name}`;
}
