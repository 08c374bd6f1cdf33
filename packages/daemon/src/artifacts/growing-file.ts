import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, symlink } from "node:fs/promises";
import { dirname } from "node:path";

/** The plain file of an artifact that grows. It lies in a folder of Corral's own, which no agent can reach. */
export class GrowingFile {
  readonly #file: FileHandle;
  bytes: number;

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file;
    this.bytes = bytes;
  }

  static async create(path: string): Promise<GrowingFile> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return new GrowingFile(await open(path, flags, 0o600), 0);
  }

  static async reopen(path: string): Promise<GrowingFile> {
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
    return new GrowingFile(file, (await file.stat()).size);
  }

  /** All of it or nothing. */
  async append(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.byteLength;) {
        const { bytesWritten } = await this.#file.write(bytes, at, bytes.byteLength - at, this.bytes + at);
        at += bytesWritten;
      }
      this.bytes += bytes.byteLength;
    } catch (error) {
      await this.#file.truncate(this.bytes).catch(() => undefined);
      throw error;
    }
  }

  /** What lies behind this place becomes these bytes; whoever reads meanwhile finds the one or the other there. */
  async replace(from: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength;) {
      const { bytesWritten } = await this.#file.write(bytes, at, bytes.byteLength - at, from + at);
      at += bytesWritten;
      this.bytes = Math.max(this.bytes, from + at);
    }
    await this.#file.truncate(from + bytes.byteLength);
    this.bytes = from + bytes.byteLength;
  }

  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** A plain file with these bytes takes the place of what is there, whole. */
export async function layOut(path: string, source: AsyncIterable<Uint8Array>): Promise<void> {
  await replacing(path, async (aside) => {
    const file = await GrowingFile.create(aside);
    try {
      for await (const piece of source) await file.append(piece);
    } finally {
      await file.close();
    }
  });
}

/** The stored bytes take the place of the plain file, under the same name. */
export async function linkTo(path: string, stored: string): Promise<void> {
  await replacing(path, (aside) => symlink(stored, aside));
}

async function replacing(path: string, make: (aside: string) => Promise<void>): Promise<void> {
  const aside = `${path}.new`;
  await rm(aside, { force: true });
  try {
    await make(aside);
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

export async function* bytesOf(
  path: string,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    for (let at = from; at < to;) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(readBytes, to - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

const readBytes = 256 * 2 ** 10;
