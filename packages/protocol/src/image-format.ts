/**
 * Looks at an image file as far as its structure goes, without decoding it: what it is, how large it is, and whether it is whole.
 * That finds what is cut off, empty or no image at all. Whether its pixels make sense only a decoder can tell.
 */
export type ImageLooked =
  | { readonly mediaType: ImageType; readonly width: number; readonly height: number }
  /** In words that go behind its name. */
  | { readonly mediaType: ImageType; readonly broken: string };

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Providers take no image that is longer on a side. */
const mostImageSide = 8000;

/** Undefined: it does not begin like an image that models can look at. */
export function lookAtImage(bytes: Uint8Array): ImageLooked | undefined {
  const format = formats.find((each) => each.begins(bytes));
  if (format === undefined) return undefined;
  const { mediaType, name } = format;
  try {
    const { width, height } = format.measure(new Reader(bytes));
    if (width === 0 || height === 0) throw new Broken("without a single pixel");
    if (Math.max(width, height) > mostImageSide)
      throw new Broken(`of ${width} × ${height} pixels; at most ${mostImageSide} on each side can be shown`);
    return { mediaType, width, height };
  } catch (error) {
    if (error instanceof Broken) return { mediaType, broken: `is a ${name} ${error.message}` };
    throw error;
  }
}

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Format {
  readonly name: string;
  readonly mediaType: ImageType;
  begins(bytes: Uint8Array): boolean;
  /** Throws `Broken`. */
  measure(file: Reader): Size;
}

/** In words that go behind "is a PNG". */
class Broken extends Error {}

/** Reads on, and never past the end. */
class Reader {
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#view.byteLength - this.at;
  }

  /** Where it was before. */
  skip(count: number): number {
    if (count > this.left) throw new Broken("that is cut off");
    this.at += count;
    return this.at - count;
  }

  u8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  u16(order: "big" | "little"): number {
    return this.#view.getUint16(this.skip(2), order === "little");
  }

  u24(): number {
    return this.u16("little") + this.u8() * 65_536;
  }

  u32(order: "big" | "little"): number {
    return this.#view.getUint32(this.skip(4), order === "little");
  }

  word(length: number): string {
    return String.fromCharCode(...Array.from({ length }, () => this.u8()));
  }

  /** What comes next, up to a length, as a file of its own. */
  part(length: number): Reader {
    const from = this.skip(length);
    return new Reader(new Uint8Array(this.#view.buffer, this.#view.byteOffset + from, length));
  }
}

const formats: readonly Format[] = [
  { name: "PNG", mediaType: "image/png", begins: beginsWith(0, "\x89PNG\r\n\x1a\n"), measure: measurePng },
  { name: "JPEG", mediaType: "image/jpeg", begins: beginsWith(0, "\xff\xd8\xff"), measure: measureJpeg },
  {
    name: "GIF",
    mediaType: "image/gif",
    begins: (bytes) => beginsWith(0, "GIF87a")(bytes) || beginsWith(0, "GIF89a")(bytes),
    measure: measureGif,
  },
  {
    name: "WebP",
    mediaType: "image/webp",
    begins: (bytes) => beginsWith(0, "RIFF")(bytes) && beginsWith(8, "WEBP")(bytes),
    measure: measureWebp,
  },
];

function beginsWith(at: number, word: string): Format["begins"] {
  return (bytes) => Array.from(word).every((letter, index) => bytes[at + index] === letter.charCodeAt(0));
}

/** Chunks: a length, a name, what is in it, a checksum. IHDR is the first, IEND the last, with some IDAT between. */
function measurePng(file: Reader): Size {
  file.skip(8);
  if (file.u32("big") !== 13 || file.word(4) !== "IHDR") throw new Broken("without a header");
  const size = { width: file.u32("big"), height: file.u32("big") };
  const depth = file.u8();
  const colour = file.u8();
  if (pngDepths[colour]?.includes(depth) !== true) throw new Broken("with a header that makes no sense");
  file.skip(3 + 4);
  for (let pixels = 0; ;) {
    const length = file.u32("big");
    const name = file.word(4);
    file.skip(length);
    file.skip(4);
    if (name === "IDAT") pixels += length;
    if (name !== "IEND") continue;
    if (pixels === 0) throw new Broken("without a single pixel");
    return size;
  }
}

/** By the kind of colour. */
const pngDepths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Segments behind markers: a frame's header, then scans of it, then the end. */
function measureJpeg(file: Reader): Size {
  file.skip(2);
  let size: Size | undefined;
  let hasScan = false;
  for (let marker = nextMarker(file); marker !== 0xd9; marker = nextMarker(file)) {
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) continue;
    if (marker < 0xc0) throw new Broken("with a marker that makes no sense");
    const length = file.u16("big");
    if (length < 2) throw new Broken("with a segment that makes no sense");
    const segment = file.part(length - 2);
    if (isFrame(marker)) {
      segment.skip(1);
      const height = segment.u16("big");
      size = { height, width: segment.u16("big") };
    }
    if (marker !== 0xda) continue;
    if (size === undefined) throw new Broken("without a header");
    hasScan = true;
  }
  if (size === undefined || !hasScan) throw new Broken("without a single pixel");
  return size;
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Decoders pass over what is between segments. Behind 0xff, 0 is a pixel's own byte and 0xff fills. */
function nextMarker(file: Reader): number {
  for (;;) {
    while (file.u8() !== 0xff);
    let marker = file.u8();
    while (marker === 0xff) marker = file.u8();
    if (marker !== 0) return marker;
  }
}

/** A screen, then images and extensions in blocks, then the end. An image may be larger than the screen. */
function measureGif(file: Reader): Size {
  file.skip(6);
  let width = file.u16("little");
  let height = file.u16("little");
  const flags = file.u8();
  file.skip(2);
  skipColours(file, flags);
  for (let images = 0; ;) {
    const block = file.u8();
    if (block === 0x3b) {
      if (images === 0) throw new Broken("without a single pixel");
      return { width, height };
    }
    if (block === 0x2c) {
      images += 1;
      const left = file.u16("little");
      const top = file.u16("little");
      width = Math.max(width, left + file.u16("little"));
      height = Math.max(height, top + file.u16("little"));
      skipColours(file, file.u8());
      file.skip(1);
    } else if (block === 0x21) file.skip(1);
    else throw new Broken("with a block that makes no sense");
    for (let length = file.u8(); length > 0; length = file.u8()) file.skip(length);
  }
}

function skipColours(file: Reader, flags: number): void {
  const count = (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
  file.skip(count);
}

/** Chunks within one: a plain image, or a header with the size of all of it and the images behind. */
function measureWebp(whole: Reader): Size {
  whole.skip(4);
  const length = whole.u32("little");
  const file = whole.part(length);
  file.skip(4);
  let canvas: Size | undefined;
  let image: Size | undefined;
  while (file.left > 0) {
    const name = file.word(4);
    const chunkLength = file.u32("little");
    const chunk = file.part(chunkLength);
    // The last one may be without what makes its length even.
    file.skip(Math.min(chunkLength % 2, file.left));
    if (name === "VP8X") canvas = canvasOf(chunk);
    else if (name === "VP8 " || name === "VP8L" || name === "ANMF") image ??= webpImages[name](chunk);
  }
  if (image === undefined) throw new Broken("without a single pixel");
  return canvas ?? image;
}

function canvasOf(chunk: Reader): Size {
  chunk.skip(4);
  const width = chunk.u24() + 1;
  return { width, height: chunk.u24() + 1 };
}

const webpImages: Readonly<Record<"VP8 " | "VP8L" | "ANMF", (chunk: Reader) => Size>> = {
  "VP8 "(chunk) {
    chunk.skip(3);
    if (chunk.word(3) !== "\x9d\x01\x2a") throw new Broken("without a header");
    const width = chunk.u16("little") & 0x3fff;
    return { width, height: chunk.u16("little") & 0x3fff };
  },
  VP8L(chunk) {
    if (chunk.u8() !== 0x2f) throw new Broken("without a header");
    const bits = chunk.u32("little");
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  },
  ANMF(chunk) {
    chunk.skip(6);
    const width = chunk.u24() + 1;
    return { width, height: chunk.u24() + 1 };
  },
};
