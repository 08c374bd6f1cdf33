import type { FileHandle } from "node:fs/promises";

const bufferBytes = 256 * 2 ** 10;

/**
 * Pieces of any size on their way into a file: gathered in one buffer while the other one is being written, so that the source is
 * read and hashed meanwhile. It keeps no piece, and holds two buffers whatever the size.
 */
export class Writing {
  bytes = 0;
  readonly #file: FileHandle;
  #filling: Buffer | undefined;
  #spare: Buffer | undefined;
  #filled = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.byteLength;) {
      const buffer = (this.#filling ??= Buffer.allocUnsafeSlow(bufferBytes));
      const part = piece.subarray(at, at + bufferBytes - this.#filled);
      buffer.set(part, this.#filled);
      this.#filled += part.byteLength;
      at += part.byteLength;
      if (this.#filled === bufferBytes) await this.#pass(buffer);
    }
    this.bytes += piece.byteLength;
  }

  async sync(): Promise<void> {
    if (this.#filling !== undefined) await this.#pass(this.#filling);
    await this.#written;
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#written.catch(() => {});
    await this.#file.close();
  }

  /** Waits for the buffer before this one alone. */
  async #pass(buffer: Buffer): Promise<void> {
    await this.#written;
    this.#written = writeAll(this.#file, buffer.subarray(0, this.#filled));
    // Whoever adds, syncs or closes next hears of it.
    this.#written.catch(() => {});
    this.#filling = this.#spare;
    this.#spare = buffer;
    this.#filled = 0;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, at);
    at += bytesWritten;
  }
}
