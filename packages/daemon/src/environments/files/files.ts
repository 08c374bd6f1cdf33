import { CorralError } from "@corral/protocol";
import { hash, randomBytes } from "node:crypto";
import { failureOf, isMissing } from "./failure.ts";
import { type Hand, HandLost, type HandRequest, isGone, type Spawn } from "./hands/hand.ts";
import { readEntries, readFacts } from "./answers.ts";
import { inside } from "./path.ts";
import { openPerlHand } from "./hands/perl-hand.ts";
import { openShellHand } from "./hands/shell-hand.ts";
import { findFiles, type World } from "./finding/find.ts";
import { searchLines } from "./finding/search.ts";
import { watchPaths } from "./watch.ts";
import type { Bounds, FileRead, Files, FileStat, FileVersion, RemoveOptions, WriteOptions } from "./port.ts";

/** Files that can be let go: its processes end, and what comes later is refused. */
export interface OpenFiles extends Files {
  close(): Promise<void>;
}

/**
 * Files by processes inside the environment, which start with the first use and end when idle. Invariants:
 * 1. Nothing here touches a path: only processes inside do.
 * 2. What only reads is asked once more when its process ended, as all of an environment's processes do at a time limit.
 * 3. A write whose process ended is never made again: the file is looked at, and the answer is what it holds.
 * 4. Edits of one path follow each other; others' changes are found by the version.
 */
export function openFiles({ spawn }: { readonly spawn: Spawn }): OpenFiles {
  const closed = new AbortController();
  const reader = lazyHand(spawn, closed.signal);
  const watcher = lazyHand(spawn, closed.signal);
  const edits = new Map<string, Promise<unknown>>();

  /** For what only reads: whoever ends the process that does it is not asked to stop at one. */
  async function look(asked: Asked, bounds: Bounds | undefined): Promise<Buffer> {
    const request = requestOf(asked, bounds);
    const hand = await reader.get();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await hand.ask(request);
      } catch (error) {
        if (!(error instanceof HandLost) || error.why !== "ended" || attempt === lookAttempts) throw error;
      }
    }
  }

  async function read(
    path: string,
    { from = 0, bytes = readBytes, ...bounds }: Parameters<Files["read"]>[1] = {},
  ): Promise<FileRead> {
    const asked = Math.min(Math.max(bytes, 0), maxBytes);
    const words = ["read", inside(path), String(Math.max(from, 0)), String(asked)] as const;
    const answer = await look({ words, maxBytes: asked + 200 }, bounds).catch(fails(path));
    const end = answer.indexOf("\n");
    const content = answer.subarray(end + 1);
    // What the kernel makes up while it is read has no size.
    const size = Math.max(
      readFacts(answer.toString("latin1", 0, end)).size,
      content.length === 0 ? 0 : from + content.length,
    );
    return { bytes: content, size, version: content.length === size ? versionOf(content) : undefined };
  }

  async function write(
    path: string,
    content: Uint8Array | string,
    { expected, ...bounds }: WriteOptions = {},
  ): Promise<FileVersion> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    if (bytes.length > maxBytes) throw tooLarge(path, bytes.length);
    const name = `.corral-${randomBytes(9).toString("base64url")}`;
    const condition = expected === null ? "none" : (expected ?? "");
    const words = ["write", inside(path), name, String(bytes.length), condition] as const;
    bounds.signal?.throwIfAborted();
    const hand = await reader.get();
    try {
      // Once it is on its way its end is waited for, so that the answer is true.
      await hand.ask({ ...requestOf({ words, maxBytes: 200 }, { ...bounds, signal: undefined }), content: bytes });
      return versionOf(bytes);
    } catch (error) {
      if (!(error instanceof HandLost)) throw failureOf(error, path);
      return findOut(path, { name, version: versionOf(bytes), error });
    }
  }

  async function findOut(
    path: string,
    { name, version, error }: { name: string; version: FileVersion; error: HandLost },
  ): Promise<FileVersion> {
    // One that is still there may write later, so nobody can tell.
    if (!(await isGone(error.gone))) throw failureOf(error, path);
    await look({ words: ["remove", inside(path), name], maxBytes: 200 }, undefined).catch(() => undefined);
    const now = await read(path, { bytes: maxBytes }).catch(() => undefined);
    if (now?.version === version) return version;
    throw new CorralError("file.failed", `${path} was not written: ${error.message}`, {
      retry: "now",
      hint: "The file holds something else. Read it, then write again.",
      cause: error,
    });
  }

  async function remove(path: string, { expected = "", ...bounds }: RemoveOptions = {}): Promise<void> {
    const words = ["delete", inside(path), expected] as const;
    await once(words, bounds, path, async () => (await stat(path)) === undefined);
  }

  async function move(path: string, to: string, { expected = "", ...bounds }: RemoveOptions = {}): Promise<void> {
    const words = ["move", inside(path), inside(to), expected] as const;
    const isThere = async () => (await stat(path)) === undefined && (await stat(to)) !== undefined;
    await once(words, bounds, path, isThere);
  }

  /** For what is not asked a second time: when its process ended, what is there tells whether it was done. */
  async function once(
    words: Asked["words"],
    bounds: Bounds,
    path: string,
    wasDone: () => Promise<boolean>,
  ): Promise<void> {
    bounds.signal?.throwIfAborted();
    const hand = await reader.get();
    try {
      await hand.ask(requestOf({ words, maxBytes: 200 }, { ...bounds, signal: undefined }));
    } catch (error) {
      if (!(error instanceof HandLost) || !(await isGone(error.gone)) || !(await wasDone()))
        throw failureOf(error, path);
    }
  }

  async function edit(
    path: string,
    change: (text: string) => string | undefined,
    bounds?: Bounds,
  ): Promise<FileVersion | undefined> {
    const file = inside(path);
    const before = edits.get(file);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return editAlone(path, change, bounds);
    })();
    edits.set(file, mine);
    try {
      return await mine;
    } finally {
      if (edits.get(file) === mine) edits.delete(file);
    }
  }

  async function editAlone(
    path: string,
    change: (text: string) => string | undefined,
    bounds: Bounds = {},
  ): Promise<FileVersion | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const { bytes, size, version } = await read(path, { ...bounds, bytes: maxBytes });
      if (version === undefined) throw tooLarge(path, size);
      const changed = change(textOf(bytes, path));
      if (changed === undefined) return undefined;
      try {
        return await write(path, changed, { ...bounds, expected: version });
      } catch (error) {
        if (!(error instanceof CorralError && error.code === "file.changed") || attempt === editAttempts) throw error;
      }
    }
  }

  async function stat(path: string, bounds?: Bounds): Promise<FileStat | undefined> {
    const asked = look({ words: ["stat", inside(path)], maxBytes: 200 }, bounds);
    const answer = await asked.catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw failureOf(error, path);
    });
    return answer === undefined ? undefined : readFacts(answer.toString("latin1"));
  }

  const world: World = { spawn, read, stat, signal: closed.signal };
  return {
    stat,
    read,
    write,
    remove,
    move,
    edit,
    async list(path, { limit = listLimit, ...bounds } = {}) {
      const words = ["list", inside(path), String(limit + 1)] as const;
      const answer = await look({ words, maxBytes }, bounds).catch(fails(path));
      const entries = readEntries(answer);
      return { items: entries.slice(0, limit), complete: entries.length <= limit };
    },
    glob: (pattern, options) => findFiles(world, { pattern, ...options }),
    search: (search) => searchLines(world, search),
    watch(paths, { signal, ...options }) {
      const asked = AbortSignal.any([signal, closed.signal]);
      watchPaths({ hand: () => watcher.get(), paths: paths.map(inside), names: paths, signal: asked, ...options });
    },
    async close() {
      closed.abort(new CorralError("environment.gone", "The environment was let go."));
      await Promise.all([reader.close(), watcher.close()]);
    },
  };
}

/** A hand that is opened when it is first needed. */
function lazyHand(spawn: Spawn, closed: AbortSignal): { get(): Promise<Hand>; close(): Promise<void> } {
  let hand: Promise<Hand> | undefined;
  return {
    async get() {
      closed.throwIfAborted();
      hand ??= openPerlHand(spawn).then((perl) => perl ?? openShellHand(spawn));
      hand.catch(() => (hand = undefined));
      return hand;
    },
    close: async () => (await hand?.catch(() => undefined))?.close(),
  };
}

const mebibyte = 2 ** 20;
const readBytes = 8 * mebibyte;
const maxBytes = 64 * mebibyte;
const listLimit = 1000;
const editAttempts = 20;
const lookAttempts = 5;
const defaultTimeoutMs = 10_000;

type Asked = Pick<HandRequest, "words" | "maxBytes">;

function requestOf(
  asked: Asked,
  {
    timeoutMs = defaultTimeoutMs,
    signal,
  }: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): HandRequest {
  return { ...asked, timeoutMs, signal };
}

function fails(path: string): (error: unknown) => never {
  return (error) => {
    throw failureOf(error, path);
  };
}

/** The version that a file with this content has. */
export function versionOf(content: Uint8Array): FileVersion {
  return hash("sha256", content);
}

function textOf(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CorralError("file.unsuitable", `${path} is no text`, {
      hint: "Only text in UTF-8 can be edited; write the whole file instead.",
      cause,
    });
  }
}

function tooLarge(path: string, size: number): CorralError {
  return new CorralError("file.too-large", `${path}: ${size} bytes are more than ${maxBytes}`, {
    hint: "Use a program in the shell for files of this size.",
  });
}
