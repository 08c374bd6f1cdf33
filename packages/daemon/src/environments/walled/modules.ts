import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Where submodules of a repository are, relative to its top, fetched or not, those within others included. By what its own git folder says: an agent
 * cannot change that in the user's folder. What git keeps of one that was there before says nothing where files of the repository itself are by now.
 */
export function modulesOf(gitFolder: string): string[] {
  const kept = [...below(gitFolder, ".git/modules", 0)];
  const { links, ordinary } = sorted(entriesIn(gitFolder), kept);
  const isIn = (path: string, folders: readonly string[]) => folders.some((each) => `${path}/`.startsWith(`${each}/`));
  const isLeftOver = (path: string) => isIn(path, ordinary) && !isIn(path, links);
  const found = new Set([...links, ...kept.filter((path) => !isLeftOver(path))]);
  return [...found].filter((path) => path !== "" && !/^(\/|\.\.?(\/|$)|\.git(\/|$))/.test(path));
}

/** Where other repositories are in the place of files, and which of these folders have files in them. */
function sorted(entries: Iterable<IndexEntry>, folders: readonly string[]): { links: string[]; ordinary: string[] } {
  const links: string[] = [];
  const without = new Map(folders.map((path) => [path, Buffer.from(`${path}/`)]));
  for (const { path, isRepository } of entries)
    if (isRepository) links.push(path.toString("utf8"));
    else
      for (const [folder, start] of without)
        if (path.length >= start.length && path.compare(start, 0, start.length, 0, start.length) === 0)
          without.delete(folder);
  return { links, ordinary: folders.filter((path) => !without.has(path)) };
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

function linksIn(gitFolder: string): string[] {
  return sorted(entriesIn(gitFolder), []).links;
}

interface IndexEntry {
  readonly path: Buffer;
  /** Another repository is in the place of a file. */
  readonly isRepository: boolean;
}

/** Of the index and the part of it that several share. */
function* entriesIn(gitFolder: string): Generator<IndexEntry> {
  const config = textOf(join(gitFolder, "config"))?.toString("utf8") ?? "";
  const hashBytes = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 32 : 20;
  const names = readdirSync(gitFolder).filter((name) => name === "index" || name.startsWith("sharedindex."));
  for (const name of names) yield* entriesOf(textOf(join(gitFolder, name)) ?? Buffer.alloc(0), hashBytes);
}

const repository = 0o160000;

/** The format is git's own, gitformat-index(5). What is cut short ends it. */
function* entriesOf(index: Buffer, hashBytes: number): Generator<IndexEntry> {
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
    yield { path, isRepository: index.readUInt32BE(at + 24) === repository };
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
