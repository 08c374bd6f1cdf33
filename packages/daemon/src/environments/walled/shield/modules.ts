import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Module {
  /** Relative to the top. */
  readonly path: string;
  /** The index has it, or one that it is in: a status of the whole asks there, be it fetched or not. Git keeps others that were there before. */
  readonly isLinked: boolean;
}

/** The submodules of a repository, those within others included. By what its own git folder says: an agent cannot change that in the user's folder. */
export function modulesOf(gitFolder: string): Module[] {
  const links = linksIn(gitFolder);
  const isLinked = (path: string) => links.some((each) => `${path}/`.startsWith(`${each}/`));
  const found = new Set([...links, ...below(gitFolder, ".git/modules", 0)]);
  return [...found]
    .filter((path) => path !== "" && !/^(\/|\.\.?(\/|$)|\.git(\/|$))/.test(path))
    .map((path) => ({ path, isLinked: isLinked(path) }));
}

/** A module may have others in it, and its name may have slashes. */
const deepest = 10;

function* below(gitFolder: string, folder: string, depth: number): Generator<string> {
  const at = join(gitFolder, folder.slice(".git/".length));
  if (depth > deepest || lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(at)) {
    const config = textOf(join(at, name, "config"))?.toString("utf8");
    if (config === undefined) yield* below(gitFolder, join(folder, name), depth + 1);
    else {
      const worktree = worktreeIn(config);
      const path = worktree === undefined || worktree.startsWith("/") ? undefined : join(folder, name, worktree);
      if (path !== undefined) yield* [path, ...linksIn(join(at, name)).map((each) => join(path, each))];
      yield* below(gitFolder, join(folder, name, "modules"), depth + 1);
    }
  }
}

/** Git quotes what it has to. */
function worktreeIn(config: string): string | undefined {
  const written = /^\s*worktree\s*=\s*(.*?)\s*$/im.exec(config)?.[1];
  if (written?.startsWith('"') !== true) return written;
  return written.slice(1, -1).replaceAll(/\\(.)/g, "$1");
}

/** Where other repositories are in the place of files, by the index and the part of it that several share. */
function linksIn(gitFolder: string): string[] {
  const config = textOf(join(gitFolder, "config"))?.toString("utf8") ?? "";
  const hashBytes = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 32 : 20;
  const names = readdirSync(gitFolder).filter((name) => name === "index" || name.startsWith("sharedindex."));
  return names.flatMap((name) => [...linksOf(textOf(join(gitFolder, name)) ?? Buffer.alloc(0), hashBytes)]);
}

const repository = 0o160000;

/** The format is git's own, gitformat-index(5). What is cut short ends it. */
function* linksOf(index: Buffer, hashBytes: number): Generator<string> {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return;
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)];
  let at = 12;
  let path: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count && at + 42 + hashBytes < index.length; entry++) {
    const flags = at + 40 + hashBytes;
    const isExtended = version >= 3 && (index.readUInt16BE(flags) & 0x4000) !== 0;
    let name = flags + (isExtended ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      const cut = prefixAt(index, name);
      [name, kept] = [cut.next, path.length - cut.dropped];
    }
    const end = index.indexOf(0, name);
    if (end === -1 || kept < 0) return;
    const rest = index.subarray(name, end);
    path = kept === 0 ? rest : Buffer.concat([path.subarray(0, kept), rest]);
    if (index.readUInt32BE(at + 24) === repository) yield path.toString("utf8");
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8;
  }
}

/** How much of the name before is dropped, as a number of bytes whose first bits say whether there is more. */
function prefixAt(index: Buffer, from: number): { readonly dropped: number; readonly next: number } {
  let next = from;
  let byte = index[next++] ?? 0;
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = index[next++] ?? 0;
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
  }
  return { dropped, next };
}

/** Undefined: there is no such file. */
function textOf(path: string): Buffer | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path) : undefined;
}
