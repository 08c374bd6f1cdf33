import type { ArtifactNamed } from "@corral/protocol";
import type { Secrets, Stream } from "../secrets/index.ts";
import type { Growing } from "./port.ts";

/**
 * An artifact that an output is written to, with its secrets masked. The writer always gives the whole output from its beginning, also when an
 * earlier writer was cut off: what is already there is skipped. (Offsets in the output say nothing about offsets in the artifact, since a mask
 * is not as long as its secret.)
 */
export class MaskedOutput {
  readonly #growing: Growing;
  readonly #stream: Stream<Buffer> | undefined;
  /** How many bytes are still to be skipped. */
  #known: number;

  /** An image stays as it is. */
  constructor(growing: Growing, secrets: Secrets, { isText }: { readonly isText: boolean }) {
    this.#growing = growing;
    this.#stream = isText ? secrets.bytes() : undefined;
    const { bytes, leftOut } = growing.now;
    this.#known = bytes + (leftOut?.bytes ?? 0);
  }

  /** What the writer is told when it begins: the artifact is empty. */
  get beginning(): ArtifactNamed {
    const { id, url } = this.#growing.now;
    return { id, url, bytes: 0 };
  }

  get now(): ArtifactNamed {
    return this.#growing.now;
  }

  append(bytes: Uint8Array): Promise<void> {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#add(this.#stream?.push(piece) ?? piece);
  }

  /** Writes what was held back: the output is whole. */
  async end(): Promise<void> {
    if (this.#stream !== undefined) await this.#add(this.#stream.end());
  }

  async finish(): Promise<ArtifactNamed> {
    await this.end();
    return this.#growing.finish();
  }

  /** The output broke off. What was held back is dropped: the next writer gives it again. */
  breakOff(): Promise<ArtifactNamed> {
    return this.#growing.finish();
  }

  async #add(bytes: Buffer): Promise<void> {
    const news = bytes.subarray(this.#known);
    this.#known -= bytes.length - news.length;
    if (news.length > 0) await this.#growing.append(news);
  }
}
