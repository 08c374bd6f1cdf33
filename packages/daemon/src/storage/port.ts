/**
 * A content-addressed store of bytes: an object is found by the SHA-256 of what it holds and never changes. There is nothing else
 * in it: no names, no folders, no links, no partial updates, so that any place that keeps whole objects can be one. A store
 * belongs to one process and, in it, to one slice, which alone knows what is still needed and removes the rest.
 */
export interface Store {
  /**
   * Takes what the source gives and answers when it is safe, also from a loss of power. The same bytes are one object, however often
   * and by however many at once they are put; `storedAt` is then the last time. Nothing is there until all of it is: who fails, aborts
   * or dies on the way leaves no object. Throws `storage.too-large` as soon as there is more than `atMost`, `storage.full`, the
   * source's own error or the signal's reason. Memory is bounded whatever the size.
   */
  put(
    source: AsyncIterable<Uint8Array>,
    options?: { readonly atMost?: number; readonly signal?: AbortSignal },
  ): Promise<Stored>;
  /**
   * The bytes from `from` up to and without `to`, cut to what there is. Throws `storage.missing`. A whole read is checked: one that
   * ends without `storage.damaged` gave what was put, and a damaged one never gives its last piece. A part is not checked.
   * Leaving the loop early closes everything.
   */
  get(digest: Digest, options?: Part): AsyncIterable<Uint8Array>;
  has(digest: Digest): Promise<boolean>;
  /** In bytes; nothing of what is not there. */
  size(digest: Digest): Promise<number | undefined>;
  /** May be repeated. Who is reading it may lose it in the middle. */
  remove(digest: Digest): Promise<void>;
  /** In the order of digests, a page at a time. What is put or removed meanwhile may or may not be in it; all else is, once. */
  list(options?: { readonly after?: Digest; readonly atMost?: number }): Promise<Page>;
  /** Where objects are files of this machine: the object's own, to be read by anybody who may and written by nobody. */
  path?(digest: Digest): string;
}

/** 64 hexadecimal digits, lower case. What looks otherwise is nowhere. */
export type Digest = string;

export interface Stored {
  readonly digest: Digest;
  readonly bytes: number;
}

export interface Part {
  readonly from?: number;
  readonly to?: number;
}

export interface StoredObject extends Stored {
  /** Milliseconds. Whoever removes what nobody refers to spares the young: their reference may be on its way. */
  readonly storedAt: number;
}

export interface Page {
  readonly objects: readonly StoredObject[];
  readonly more: boolean;
}

export function isDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
