import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import * as z from "zod";
import { at, readable } from "../byte-paths.ts";
import { type Entry, openEntry } from "../entries.ts";
import { joined, reachable, unlessClosed } from "./obeyed-walk.ts";
import { isGitName, protectedOfGit } from "../shield/protected.ts";
import { isStubFolder } from "../shield/stubs.ts";

/** What is known of an entry, so that a change is seen and, of a small file, can be undone. */
export const entryRecord = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("file"),
    /** SHA-256; of a very large file, and of one that cannot be read, its size and times. */
    version: z.string(),
    /** In base64. */
    content: z.string().optional(),
  }),
  z.object({ kind: z.literal("link"), target: z.string() }),
  z.object({ kind: z.literal("folder") }),
  z.object({ kind: z.literal("other") }),
]);
export type EntryRecord = z.infer<typeof entryRecord>;

export interface Difference {
  readonly parent: number;
  readonly name: string;
  readonly path: string;
  readonly was: "made" | "changed";
  /** What it was before. */
  readonly before: EntryRecord | undefined;
  readonly isEmpty: boolean;
}

/** Names that others obey, with what is below them, as they were found. */
export class ObeyedRecords {
  readonly #records: Map<string, EntryRecord>;
  /** By which an unchanged file is known without reading it. */
  readonly #stamps = new Map<string, string>();
  readonly #isAccepted: (path: string, found: EntryRecord) => boolean;
  #room = mostBytes;

  constructor(records: Iterable<readonly [string, EntryRecord]>, isAccepted: ObeyedRecords["isAccepted"]) {
    this.#records = new Map(records);
    this.#isAccepted = isAccepted;
  }

  get all(): readonly (readonly [string, EntryRecord])[] {
    return [...this.#records];
  }

  isAccepted(path: string, found: EntryRecord): boolean {
    return this.#isAccepted(path, found);
  }

  /** Takes in what is there. */
  learn(parent: number, name: string, path: string): void {
    using entry = unlessClosed(() => opened(parent, name));
    if (entry === undefined || isStub(entry)) return;
    const record = this.#describe(entry, parent, name, path);
    this.#room -= record.kind === "file" ? (record.content?.length ?? 0) : 0;
    this.#records.set(path, record);
    for (const child of childrenOf(entry, path)) this.learn(entry.fd, child, joined(path, child));
  }

  /** What is not as it was, or was not there. Each one's folder is open as long as nobody asks for the next. */
  *differences(parent: number, name: string, path: string): Generator<Difference> {
    using entry = unlessClosed(() => opened(parent, name));
    if (entry === undefined || isStub(entry)) return;
    const before = this.#records.get(path);
    if (entry.kind === "file" && before?.kind === "file" && this.#stamps.get(path) === stampOf(entry.fd)) return;
    const found = this.#describe(entry, parent, name, path);
    if (!isSame(before, found)) {
      if (!this.#isAccepted(path, found)) {
        const was = before === undefined ? "made" : "changed";
        yield { parent, name, path, before, was, isEmpty: isEmptyEntry(entry) };
        return;
      }
      this.#records.set(path, found);
    }
    for (const child of childrenOf(entry, path)) yield* this.differences(entry.fd, child, joined(path, child));
  }

  #describe(entry: Entry, parent: number, name: string, path: string): EntryRecord {
    if (entry.kind === "folder") return { kind: "folder" };
    if (entry.kind === "other") return linkOrOther(parent, name);
    const stamp = stampOf(entry.fd);
    const read = unlessClosed(() => readWhole(entry.fd, mostDigested));
    if (read === undefined) return { kind: "file", version: stamp };
    // What changed a moment ago may change again at the same time.
    if (fstatSync(entry.fd).ctimeMs < Date.now() - 100) this.#stamps.set(path, stamp);
    const isKept = read.length <= Math.min(mostKept, this.#room);
    return { kind: "file", version: versionOf(read), ...(isKept ? { content: read.toString("base64") } : {}) };
  }
}

export function versionOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** All of a regular file; undefined: it is larger. */
export function readWhole(entry: number, most: number): Buffer | undefined {
  const path = `/proc/self/fd/${entry}`;
  const fd = reachable(entry, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    if (fstatSync(fd).size > most) return undefined;
    const chunks: Buffer[] = [];
    for (let length = 0; length <= most;) {
      const chunk = Buffer.alloc(chunkBytes);
      const read = readSync(fd, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** An entry that is closed where its use ends. */
export function opened(parent: number, name: string): (Entry & Disposable) | undefined {
  const entry = reachable(parent, () => openEntry(at(parent, name)));
  return entry === undefined ? undefined : { ...entry, [Symbol.dispose]: () => closeSync(entry.fd) };
}

export function namesIn(folder: number): string[] {
  return reachable(folder, () => readdirSync(`/proc/self/fd/${folder}`, { encoding: "latin1" }));
}

export function linkOrOther(parent: number, name: string): Extract<EntryRecord, { kind: "link" | "other" }> {
  try {
    return { kind: "link", target: reachable(parent, () => readlinkSync(at(parent, name), { encoding: "latin1" })) };
  } catch {
    return { kind: "other" };
  }
}

export function isSame(before: EntryRecord | undefined, now: EntryRecord): boolean {
  if (before?.kind !== now.kind) return false;
  if (now.kind === "file") return now.version === (before as typeof now).version;
  return now.kind !== "link" || now.target === (before as typeof now).target;
}

/** Of a repository that was there before, only what git obeys counts: the rest changes with each commit. */
function childrenOf({ fd, kind }: Entry, path: string): readonly string[] {
  if (kind !== "folder") return [];
  const names = unlessClosed(() => namesIn(fd)) ?? [];
  const way = path.split("/");
  const git = way.findIndex((name) => isGitName(readable(name)));
  const counts = git === -1 ? undefined : obeyedInGit[way.slice(git + 1).join("/")];
  return counts === undefined ? names : names.filter((name) => counts.includes(name));
}

const obeyedInGit: Readonly<Record<string, readonly string[]>> = {
  "": [...Object.values(protectedOfGit).flatMap((each) => Object.keys(each)), "objects"],
  objects: ["info"],
  "objects/info": Object.keys(protectedOfGit.objectFiles),
};

function isEmptyEntry({ kind, fd }: Entry): boolean {
  return kind === "folder"
    ? unlessClosed(() => namesIn(fd))?.length === 0
    : kind === "file" && fstatSync(fd).size === 0;
}

function isStub({ kind, fd }: Entry): boolean {
  return kind === "folder" && unlessClosed(() => reachable(fd, () => isStubFolder(fd))) === true;
}

function stampOf(fd: number): string {
  const { ino, size, ctimeMs, mtimeMs } = fstatSync(fd);
  return [ino, size, ctimeMs, mtimeMs].join(" ");
}

const chunkBytes = 64 * 1024;
const mostKept = 64 * 1024;
const mostBytes = 4 * 1024 * 1024;
const mostDigested = 8 * 1024 * 1024;
