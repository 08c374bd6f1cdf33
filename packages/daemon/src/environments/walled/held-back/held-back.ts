import { type HeldBackName, heldBackName, newId, processIdentity, type QuestionId } from "@corral/protocol";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { identify, isAlive } from "../../system/process-identity.ts";
import { at, readable } from "../byte-paths.ts";
import { openFolder } from "../entries.ts";
import {
  type Difference,
  type EntryRecord,
  entryRecord,
  isSame,
  linkOrOther,
  namesIn,
  opened,
  readWhole,
  versionOf,
} from "./obeyed-records.ts";
import { joined, reachable } from "./obeyed-walk.ts";
import { whyObeyed } from "../shield/protected.ts";

/**
 * What was taken out of a user's own folder. It lies in Corral's own state, which no environment can reach: one folder for each look that
 * found something, named by the id of the question about it.
 *
 * 1. What is about to be moved is written down first. If this process is killed, each name is in one of the two places, and the next process goes on.
 * 2. The process that planted a file may hold it open and keep writing. So what counts is a copy, made after the command has ended: the copy is
 *    shown, and the copy is put back.
 * 3. Content is kept in numbered files without folders, so no tool that looks there obeys it.
 * 4. Nothing here follows a link in the workspace.
 */
export interface HeldBack {
  readonly id: QuestionId;
  readonly folder: string;
  readonly names: readonly HeldBackName[];
}

const heldEntry = z.object({
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "other"]),
  mode: z.number(),
  /** The name of the file with its content. */
  content: z.string().optional(),
  target: z.string().optional(),
});
type HeldEntry = z.infer<typeof heldEntry>;

/** Paths are bytes here, and in `shown` for people. */
const heldName = z.object({
  path: z.string(),
  shown: heldBackName,
  /** What was put in its place. */
  before: entryRecord.optional(),
  /** As it was moved here. It stays when it cannot be copied. */
  moved: z.string().optional(),
  entries: z.array(heldEntry),
});
type HeldName = z.infer<typeof heldName>;

const record = z.object({
  workspace: z.string(),
  names: z.array(heldName),
  /** All of it is copied. */
  isWhole: z.boolean(),
  /** Who is at it until then. */
  taker: processIdentity.optional(),
});
type HeldRecord = z.infer<typeof record>;

/** What is being taken by one look after another, until it is copied. */
export class Taking {
  readonly folder: string;
  readonly #record: HeldRecord;
  #count = 0;

  constructor(place: string, workspace: string) {
    this.folder = join(place, newId("question"));
    this.#record = { workspace, names: [], isWhole: false, taker: identify(process.pid) };
  }

  /** False: it is gone, or it could not be moved. */
  take({ parent, name, path, was, before }: Difference): "taken" | "gone" | "there" {
    const there = reachable(parent, () => lstatSync(at(parent, name), { throwIfNoEntry: false }));
    if (there === undefined) return "gone";
    const kind = there.isDirectory() ? "folder" : there.isFile() ? "file" : there.isSymbolicLink() ? "link" : "other";
    const canRestore = before?.kind === "link" || (before?.kind === "file" && before.content !== undefined);
    const why =
      path
        .split("/")
        .map((each) => whyObeyed(readable(each)))
        .find((each) => each !== undefined) ?? "";
    const shown = {
      path: readable(path),
      kind,
      was,
      ...(was === "changed" ? { restored: canRestore } : {}),
      why,
    } as const;
    const held: HeldName = { path, shown, moved: `moved-${this.#count++}`, entries: [] };
    if (was === "changed" && canRestore) held.before = before;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    this.#record.names.push(held);
    writeRecord(this.folder, this.#record);
    try {
      reachable(parent, () => this.#move(parent, name, held));
      if (held.before !== undefined)
        reachable(parent, () => putRecord(parent, name, held.before!, this.#record.workspace));
    } catch (error) {
      if (existsSync(join(this.folder, held.moved ?? "")) || held.entries.length > 0) throw error;
      this.#record.names.splice(this.#record.names.indexOf(held), 1);
      writeRecord(this.folder, this.#record);
      return (error as NodeJS.ErrnoException).code === "ENOENT" ? "gone" : "there";
    }
    this.#forgetEarlier(held);
    return "taken";
  }

  /** Of one that was made again and again the last counts. */
  #forgetEarlier(held: HeldName): void {
    const { names } = this.#record;
    const at = names.findIndex((each) => each.path === held.path);
    if (names[at] === held) return;
    const [earlier] = names.splice(at, 1);
    if (earlier?.moved !== undefined) this.#remove(earlier.moved);
    writeRecord(this.folder, this.#record);
  }

  #remove(moved: string): void {
    const folder = openFolder(this.folder);
    if (folder === undefined) return;
    try {
      removeTree(folder, moved);
    } finally {
      closeSync(folder);
    }
  }

  #move(parent: number, name: string, held: HeldName): void {
    try {
      using entry = opened(parent, name);
      // A folder that is moved is written to: it has another one above it.
      const rename = () => renameSync(at(parent, name), join(this.folder, held.moved!));
      if (entry?.kind === "folder") reachable(entry.fd, rename);
      else rename();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
      // On another file system it is copied at once.
      delete held.moved;
      held.entries.push(...copied(parent, name, held.path, this.folder));
      writeRecord(this.folder, this.#record);
      removeTree(parent, name);
    }
  }

  /** Makes the copies that count. Undefined: there is nothing. */
  finish(): HeldBack | undefined {
    return finish(this.folder, this.#record);
  }
}

/** `unfinished`: what a process left that was killed in the middle. */
export function heldBackIn(
  place: string,
  { unfinished }: { readonly unfinished: "finish" | "leave" },
): readonly HeldBack[] {
  return idsIn(place).flatMap((id) => {
    const folder = join(place, id);
    const known = readRecord(folder);
    if (known?.isWhole === true) return heldOf(folder, known);
    const isLeft = known !== undefined && (known.taker === undefined || !isAlive(known.taker));
    return isLeft && unfinished === "finish" ? (finish(folder, known) ?? []) : [];
  });
}

function finish(folder: string, known: HeldRecord): HeldBack | undefined {
  const parent = openFolder(folder);
  if (parent === undefined) return undefined;
  const written = readRecord(folder);
  if (written?.isWhole === true) {
    closeSync(parent);
    return heldOf(folder, written);
  }
  try {
    const copies = known.names.map((held) => finished(parent, folder, held)).filter((held) => held !== undefined);
    const names = copies.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    if (names.length === 0) {
      rmSync(folder, { recursive: true, force: true });
      return undefined;
    }
    const whole = { ...known, names, isWhole: true };
    writeRecord(folder, whole);
    const stays = new Set(names.map(({ moved }) => moved));
    for (const name of namesIn(parent)) if (name.startsWith("moved-") && !stays.has(name)) removeTree(parent, name);
    return heldOf(folder, whole);
  } finally {
    closeSync(parent);
  }
}

/** Undefined: it was never moved here. */
function finished(parent: number, folder: string, held: HeldName): HeldName | undefined {
  if (held.moved === undefined || held.entries.length > 0) return held;
  if (lstatSync(join(folder, held.moved), { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    const { moved, ...rest } = held;
    return { ...rest, entries: copied(parent, moved, held.path, folder) };
  } catch (error) {
    if (error instanceof TooMuch || cannotBeRead.has((error as NodeJS.ErrnoException).code)) return held;
    throw error;
  }
}

class TooMuch extends Error {}

/** Another user's, or nested so deep that it would take all descriptors. It stays as it was moved. */
const cannotBeRead: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EMFILE"]);

const mostCopied = { files: 2_000, bytes: 32 * 1024 * 1024 };

/** A copy of each file, in a numbered one. */
function copied(parent: number, name: string, path: string, folder: string): HeldEntry[] {
  const entries: HeldEntry[] = [];
  let left = mostCopied.bytes;
  let number = readdirSync(folder).filter((each) => /^\d+$/.test(each)).length;
  const copy = (from: number, called: string, to: string): void => {
    using entry = opened(from, called);
    if (entry === undefined) return;
    if (entries.length >= mostCopied.files) throw new TooMuch();
    const mode = fstatSync(entry.fd).mode & 0o777;
    if (entry.kind === "file") {
      const content = readWhole(entry.fd, left);
      if (content === undefined) throw new TooMuch();
      left -= content.length;
      const file = String(++number).padStart(4, "0");
      writeDurably(join(folder, file), content);
      entries.push({ path: to, kind: "file", mode, content: file });
    } else if (entry.kind === "folder") {
      entries.push({ path: to, kind: "folder", mode });
      for (const each of namesIn(entry.fd)) copy(entry.fd, each, joined(to, each));
    } else entries.push({ path: to, mode, ...linkOrOther(from, called) });
  };
  copy(parent, name, path);
  return entries;
}

function removeTree(parent: number, name: string): void {
  using entry = opened(parent, name);
  if (entry?.kind !== "folder") return unlinkSync(at(parent, name));
  chmodSync(`/proc/self/fd/${entry.fd}`, 0o700);
  for (const each of namesIn(entry.fd)) removeTree(entry.fd, each);
  rmdirSync(at(parent, name));
}

/** The content of one of the files, for people. `undefined`: there is no copy of it. */
export function heldContents(folder: string): readonly HeldContent[] {
  const known = readRecord(folder);
  return (known?.names ?? []).map(({ shown, before, moved, entries }) => ({
    ...shown,
    ...(before?.kind === "file" && before.content !== undefined
      ? { before: Buffer.from(before.content, "base64") }
      : before?.kind === "link"
        ? { before: Buffer.from(before.target, "latin1") }
        : {}),
    ...(moved === undefined ? {} : { moved: join(folder, moved) }),
    entries: entries.map(({ path, kind, content, target, mode }) => ({
      path: readable(path),
      kind,
      isExecutable: kind === "file" && (mode & 0o111) !== 0,
      content:
        content !== undefined
          ? readFileSync(join(folder, content))
          : target === undefined
            ? undefined
            : Buffer.from(target, "latin1"),
    })),
  }));
}

export interface HeldContent extends HeldBackName {
  readonly before?: Buffer;
  /** It could not be copied, and lies there. */
  readonly moved?: string;
  readonly entries: readonly {
    readonly path: string;
    readonly kind: HeldBackName["kind"];
    readonly isExecutable: boolean;
    /** Of a link its target. */
    readonly content: Buffer | undefined;
  }[];
}

export interface PutBack {
  readonly path: string;
  readonly outcome: "put-back" | "left";
  readonly reason?: string;
}

/** Puts exactly that content in place, unless something else has the name by now. Can be repeated. */
export function putBack(folder: string): readonly PutBack[] {
  const known = readRecord(folder);
  if (known === undefined) return [];
  const workspace = openFolder(known.workspace);
  if (workspace === undefined)
    return known.names.map(({ shown: { path } }) => ({ path, outcome: "left", reason: "the folder is gone" }));
  try {
    return known.names.map((held) => putNameBack(workspace, folder, known, held));
  } finally {
    closeSync(workspace);
  }
}

function putNameBack(workspace: number, folder: string, known: HeldRecord, held: HeldName): PutBack {
  const { path } = held.shown;
  const left = (reason: string) => ({ path, outcome: "left", reason }) as const;
  if (held.moved !== undefined) return left("it is too large to be put back by Corral, or closed to you");
  if (held.entries.some(({ kind }) => kind === "other")) return left("it is neither file, folder nor link");
  try {
    accept(
      dirname(folder),
      known.workspace,
      held.entries.map((entry) => [entry.path, recordOf(folder, entry)]),
    );
    return within(workspace, held.path, known.workspace, (parent, name) => {
      const found = foundAt(parent, name);
      // It was put there before a crash.
      if (found !== undefined && held.entries.every((entry) => isThere(parent, name, { held, folder, entry })))
        return { path, outcome: "put-back" };
      if (found !== undefined && (held.before === undefined || !isSame(held.before, found)))
        return left("something else has the name by now");
      if (found !== undefined) unlinkSync(at(parent, name));
      for (const entry of held.entries) putEntry(parent, name, held.path, folder, entry, known.workspace);
      return { path, outcome: "put-back" };
    });
  } catch (error) {
    return left((error as Error).message);
  }
}

function putEntry(
  parent: number,
  name: string,
  top: string,
  folder: string,
  entry: HeldEntry,
  workspace: string,
): void {
  const below = entry.path.slice(top.length + 1);
  if (below === "") return makeEntry(parent, name, folder, entry, workspace);
  const inside = openFolder(at(parent, name));
  if (inside === undefined) throw new Error(`${name} was taken away meanwhile`);
  try {
    within(inside, below, workspace, (above, called) => makeEntry(above, called, folder, entry, workspace));
  } finally {
    closeSync(inside);
  }
}

function makeEntry(parent: number, name: string, folder: string, entry: HeldEntry, workspace: string): void {
  switch (entry.kind) {
    case "folder":
      mkdirSync(at(parent, name), { mode: 0o755 });
      return give(parent, name, workspace);
    case "link":
      return symlinkSync(Buffer.from(entry.target ?? "", "latin1"), at(parent, name));
    default:
      writeNew(parent, name, readFileSync(join(folder, entry.content!)), entry.mode, workspace);
  }
}

function putRecord(parent: number, name: string, before: EntryRecord, workspace: string): void {
  if (before.kind === "link") symlinkSync(Buffer.from(before.target, "latin1"), at(parent, name));
  else if (before.kind === "file")
    writeNew(parent, name, Buffer.from(before.content ?? "", "base64"), 0o644, workspace);
}

function writeNew(parent: number, name: string, content: Buffer, mode: number, workspace: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(at(parent, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    writeFileSync(fd, content);
    chmodSync(`/proc/self/fd/${fd}`, mode);
  } finally {
    closeSync(fd);
  }
  give(parent, name, workspace);
}

/** As root, what is made belongs to whom the workspace belongs to. */
function give(parent: number, name: string, workspace: string): void {
  if (process.getuid?.() !== 0) return;
  using entry = opened(parent, name);
  if (entry === undefined || entry.kind === "other") return;
  const { uid, gid } = statSync(workspace);
  chownSync(`/proc/self/fd/${entry.fd}`, uid, gid);
}

/** Goes from folder to folder, none of which is a link, and makes those that are missing. */
function within<T>(start: number, path: string, workspace: string, act: (parent: number, name: string) => T): T {
  const folders: number[] = [];
  const names = path.split("/");
  try {
    let parent = start;
    for (const name of names.slice(0, -1)) {
      const next = reachable(parent, () => {
        if (lstatSync(at(parent, name), { throwIfNoEntry: false }) === undefined) {
          mkdirSync(at(parent, name), { mode: 0o755 });
          give(parent, name, workspace);
        }
        return openFolder(at(parent, name));
      });
      if (next === undefined) throw new Error(`${readable(name)} is no folder any more`);
      folders.push(next);
      parent = next;
    }
    return reachable(parent, () => act(parent, names.at(-1)!));
  } finally {
    for (const fd of folders) closeSync(fd);
  }
}

function isThere(
  parent: number,
  name: string,
  { held, folder, entry }: { readonly held: HeldName; readonly folder: string; readonly entry: HeldEntry },
): boolean {
  const [next = ""] = entry.path.slice(held.path.length + 1).split("/");
  if (next === "") return isSame(recordOf(folder, entry), foundAt(parent, name) ?? { kind: "other" });
  using above = opened(parent, name);
  if (above?.kind !== "folder") return false;
  return isThere(above.fd, next, { held: { ...held, path: `${held.path}/${next}` }, folder, entry });
}

function foundAt(parent: number, name: string): EntryRecord | undefined {
  using entry = opened(parent, name);
  if (entry === undefined) return undefined;
  if (entry.kind === "folder") return { kind: "folder" };
  if (entry.kind === "other") return linkOrOther(parent, name);
  const content = readWhole(entry.fd, mostCopied.bytes);
  return { kind: "file", version: content === undefined ? "" : versionOf(content) };
}

function recordOf(folder: string, { kind, content, target }: HeldEntry): EntryRecord {
  if (kind === "file") return { kind, version: versionOf(readFileSync(join(folder, content!))) };
  return kind === "link" ? { kind, target: target ?? "" } : { kind };
}

/** What may be in a workspace since somebody allowed exactly that. It is on file for all who look after the same folder. */
export function accept(place: string, workspace: string, entries: readonly (readonly [string, EntryRecord])[]): void {
  const file = acceptedFile(place, workspace);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, entries.map((each) => `${JSON.stringify(each)}\n`).join(""), { mode: 0o600 });
}

export function isAccepted(place: string, workspace: string, path: string, found: EntryRecord): boolean {
  let lines: string[];
  try {
    lines = readFileSync(acceptedFile(place, workspace), "utf8").split("\n");
  } catch {
    return false;
  }
  return lines.some((line) => {
    if (!line.startsWith(`[${JSON.stringify(path)},`)) return false;
    const [, accepted] = JSON.parse(line) as [string, EntryRecord];
    return isSame(accepted, found);
  });
}

function acceptedFile(place: string, workspace: string): string {
  return join(dirname(place), "accepted", createHash("sha256").update(workspace).digest("hex").slice(0, 32));
}

function heldOf(folder: string, { names }: HeldRecord): HeldBack {
  return { id: basename(folder) as QuestionId, folder, names: names.map(({ shown }) => shown) };
}

function idsIn(place: string): string[] {
  try {
    return readdirSync(place).filter((name) => name.startsWith("que_"));
  } catch {
    return [];
  }
}

function readRecord(folder: string): HeldRecord | undefined {
  try {
    return record.parse(JSON.parse(readFileSync(join(folder, "record.json"), "utf8")));
  } catch {
    return undefined;
  }
}

function writeRecord(folder: string, held: HeldRecord): void {
  const beside = join(folder, "record.json.new");
  writeDurably(beside, JSON.stringify(held));
  renameSync(beside, join(folder, "record.json"));
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeDurably(file: string, content: Buffer | string): void {
  const fd = openSync(file, "w", 0o600);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
