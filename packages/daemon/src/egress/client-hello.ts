/**
 * Reads the name that a TLS client greets its server by, from the first bytes that it sends. Undefined: none is in there, or it
 * cannot be told. What is read is as long as its author likes, so every length is checked against what there is.
 */
export function serverNameIn(bytes: Buffer): string | undefined {
  const reader = new Reader(bytes);
  if (reader.number(1) !== handshakeRecord) return undefined;
  reader.skip(4);
  if (reader.number(1) !== clientHello) return undefined;
  reader.skip(3 + 2 + 32);
  reader.skip(reader.number(1));
  reader.skip(reader.number(2));
  reader.skip(reader.number(1));
  const end = reader.number(2) + reader.place;
  while (reader.place + 4 <= Math.min(end, bytes.length)) {
    const kind = reader.number(2);
    const size = reader.number(2);
    if (kind === serverName) return nameIn(reader);
    reader.skip(size);
  }
  return undefined;
}

const handshakeRecord = 22;
const clientHello = 1;
const serverName = 0;

function nameIn(reader: Reader): string | undefined {
  reader.skip(2);
  if (reader.number(1) !== 0) return undefined;
  const name = reader.text(reader.number(2));
  return name === "" ? undefined : name.toLowerCase();
}

class Reader {
  place = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Beyond the end there are zeros. */
  number(size: number): number {
    const fits = this.place + size <= this.#bytes.length;
    const value = fits ? this.#bytes.readUIntBE(this.place, size) : 0;
    this.place += size;
    return value;
  }

  skip(size: number): void {
    this.place += size;
  }

  text(size: number): string {
    return this.#bytes.toString("latin1", this.place, this.place + size);
  }
}
