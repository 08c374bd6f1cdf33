/**
 * A store in a folder: `objects/ab/abcd…` holds objects, `incoming/` what is being put.
 *
 * 1. A file in `objects` is whole: it was written aside, synced, then named, and it is never opened for writing again.
 * 2. What lies in `incoming` when the store is opened belongs to nobody alive, for a store has one process.
 * 3. A name is durable before `put` answers: its folder is synced, and that one's folder if it is new.
 * 4. Naming over an object that is there replaces it with the same bytes: concurrent puts need no agreement, and damage heals.
 */
import { CorralError } from "@corral/protocol";
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fault } from "../../faults/index.ts";
import { type Digest, isDigest, type Page, type Part, type Store, type Stored, type StoredObject } from "../port.ts";
import { explained, failure, isMissing } from "./failure.ts";
import { piecesOf } from "./pieces.ts";
import { Writing } from "./writing.ts";

const pageObjects = 1000;
const readBytes = 256 * 2 ** 10;

/** Makes the folder where there is none, and removes what a crash left half put. */
export async function openFolderStore(folder: string): Promise<Store> {
  const store = new FolderStore(folder);
  await explained("open the store", () => store.open());
  return store;
}

class FolderStore implements Store {
  readonly #folder: string;
  readonly #objects: string;
  readonly #incoming: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#objects = join(folder, "objects");
    this.#incoming = join(folder, "incoming");
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await chmod(this.#folder, 0o700);
    await mkdir(this.#objects, { recursive: true, mode: 0o700 });
    await rm(this.#incoming, { recursive: true, force: true });
    await mkdir(this.#incoming, { mode: 0o700 });
    await syncFolder(this.#folder);
  }

  async put(
    source: AsyncIterable<Uint8Array>,
    { atMost = Number.POSITIVE_INFINITY, signal }: { readonly atMost?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Stored> {
    const aside = join(this.#incoming, randomUUID());
    try {
      const stored = await writeAside(aside, piecesOf(source, signal), atMost);
      fault("storage.written");
      await explained("name an object", () => this.#name(aside, stored.digest));
      return stored;
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
  }

  async *get(
    digest: Digest,
    { from = 0, to = Number.POSITIVE_INFINITY }: Part = {},
  ): AsyncGenerator<Uint8Array, void, void> {
    const file = await this.#openToRead(digest);
    try {
      const { size } = await file.stat();
      const whole = from <= 0 && to >= size;
      yield* whole ? checkedBytes(file, digest) : bytesOf(file, Math.max(0, from), to);
    } finally {
      await file.close();
    }
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.size(digest)) !== undefined;
  }

  async size(digest: Digest): Promise<number | undefined> {
    return (await this.#find(digest))?.bytes;
  }

  async remove(digest: Digest): Promise<void> {
    if (isDigest(digest)) await explained("remove an object", () => rm(this.#pathOf(digest), { force: true }));
  }

  async list({
    after = "",
    atMost = pageObjects,
  }: { readonly after?: Digest; readonly atMost?: number } = {}): Promise<Page> {
    const objects: StoredObject[] = [];
    for (const shard of await this.#names(this.#objects)) {
      if (shard < after.slice(0, 2)) continue;
      for (const digest of await this.#names(join(this.#objects, shard))) {
        if (digest <= after || !isDigest(digest)) continue;
        if (objects.length === atMost) return { objects, more: true };
        const found = await this.#find(digest);
        if (found !== undefined) objects.push(found);
      }
    }
    return { objects, more: false };
  }

  path(digest: Digest): string {
    if (!isDigest(digest)) throw missing(digest);
    return this.#pathOf(digest);
  }

  async #name(aside: string, digest: Digest): Promise<void> {
    const shard = join(this.#objects, digest.slice(0, 2));
    const made = await mkdir(shard, { recursive: true, mode: 0o700 });
    if (made !== undefined) await syncFolder(this.#objects);
    await rename(aside, this.#pathOf(digest));
    fault("storage.named");
    await syncFolder(shard);
  }

  async #find(digest: Digest): Promise<StoredObject | undefined> {
    if (!isDigest(digest)) return undefined;
    try {
      const { size, mtimeMs } = await stat(this.#pathOf(digest));
      return { digest, bytes: size, storedAt: mtimeMs };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw failure("look at an object", error);
    }
  }

  async #openToRead(digest: Digest): Promise<FileHandle> {
    if (!isDigest(digest)) throw missing(digest);
    try {
      return await open(this.#pathOf(digest), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (isMissing(error)) throw missing(digest);
      throw failure("open an object", error);
    }
  }

  async #names(folder: string): Promise<readonly string[]> {
    try {
      return (await readdir(folder)).toSorted();
    } catch (error) {
      if (isMissing(error)) return [];
      throw failure("list objects", error);
    }
  }

  #pathOf(digest: Digest): string {
    return join(this.#objects, digest.slice(0, 2), digest);
  }
}

async function writeAside(path: string, pieces: AsyncIterable<Uint8Array>, atMost: number): Promise<Stored> {
  const hash = createHash("sha256");
  const writing = new Writing(await explained("put an object", () => open(path, "wx", 0o600)));
  try {
    for await (const piece of pieces) {
      if (writing.bytes + piece.byteLength > atMost) throw tooLarge(atMost);
      hash.update(piece);
      await explained("put an object", () => writing.add(piece));
    }
    await explained("put an object", () => writing.sync());
    return { digest: hash.digest("hex"), bytes: writing.bytes };
  } finally {
    await writing.close();
  }
}

/** Holds the last piece back until it is known to be right, so that nobody has all of something damaged. */
async function* checkedBytes(file: FileHandle, digest: Digest): AsyncGenerator<Uint8Array, void, void> {
  const hash = createHash("sha256");
  let held: Uint8Array | undefined;
  for await (const piece of bytesOf(file, 0, Number.POSITIVE_INFINITY)) {
    hash.update(piece);
    if (held !== undefined) yield held;
    held = piece;
  }
  if (hash.digest("hex") !== digest) throw damaged(digest);
  if (held !== undefined) yield held;
}

async function* bytesOf(file: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = from; at < to;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(readBytes, to - at));
    const { bytesRead } = await explained("read an object", () => file.read(buffer, 0, buffer.byteLength, at));
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function missing(digest: Digest): CorralError {
  return new CorralError("storage.missing", `There is no object ${digest.slice(0, 64)}`);
}

function damaged(digest: Digest): CorralError {
  return new CorralError(
    "storage.damaged",
    `The object ${digest} is not what was stored: its bytes have changed on the disk`,
    {
      hint: "Check the disk; what was stored in this object is lost unless there is a backup of it",
    },
  );
}

function tooLarge(atMost: number): CorralError {
  return new CorralError("storage.too-large", `There are more than ${atMost} bytes`);
}
