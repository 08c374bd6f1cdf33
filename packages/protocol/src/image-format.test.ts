import { expect, test } from "vitest";
import { lookAtImage } from "./image-format.ts";
import { attachableAs } from "./image.ts";

/** As programs write them: a canvas of 7 × 5 pixels, and a dot. */
const files = {
  "image/png": image(
    "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAYAAACJmvbYAAAAKUlEQVR4AYSKQQoAAAjCVv//c4EgeCphIM7miOTAmPxK5pD9lwVliCwAAAD//2cAwQUAAAAG" +
      "SURBVAMAewsGC8eB3RwAAAAASUVORK5CYII=",
    [7, 5],
  ),
  "image/jpeg": image(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////" +
      "////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wAARCAAFAAcD" +
      "ASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAXEAEBAQEAAAAAAAAAAAAAAAABABEh/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABUR" +
      "AQEAAAAAAAAAAAAAAAAAAAAx/9oADAMBAAIRAxEAPwCNRDmZJIV//9k=",
    [7, 5],
  ),
  "image/gif": image("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", [1, 1]),
  "image/webp": image("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", [1, 1]),
  "image/webp, lossy": image("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", [1, 1]),
  "image/webp, with a canvas": image(
    "UklGRlYAAABXRUJQVlA4WAoAAAAQAAAABgAABAAAQUxQSAwAAAABDzD/ERFiHCL6Hw5WUDggJAAAAHABAJ0BKgcABQAHQJYloALsAUAAAP7lCno9dl9kne/bEFqAAA==",
    [7, 5],
  ),
};

function image(base64: string, [width, height]: readonly [number, number]) {
  return { bytes: Buffer.from(base64, "base64"), width, height };
}

test.each(Object.entries(files))("%s is told with its size, and what is behind it does not matter", (name, file) => {
  const { bytes, ...size } = file;
  const mediaType = name.split(",")[0];
  expect(lookAtImage(bytes)).toEqual({ mediaType, ...size });
  expect(lookAtImage(Buffer.concat([bytes, Buffer.from("more")]))).toEqual({ mediaType, ...size });
  expect(attachableAs(bytes)).toEqual({ mediaType });
});

test.each(Object.entries(files))("%s that is cut off anywhere is no image to attach", (_, { bytes }) => {
  const cuts = Array.from({ length: bytes.length }, (__, length) => bytes.subarray(0, length));
  const types = cuts.map(attachableAs).map((as) => ("mediaType" in as ? as.mediaType : undefined));
  // The first letters alone are text.
  expect(types.filter((type) => type !== undefined && type !== "text/plain")).toEqual([]);
});

const png = files["image/png"].bytes;
const gif = files["image/gif"].bytes;

test.each([
  ["a beginning alone", png.subarray(0, 8), "is a PNG that is cut off"],
  ["no header", changed(png, 12, "IDAT"), "is a PNG without a header"],
  ["a header of nonsense", changed(png, 24, "\x03"), "is a PNG with a header that makes no sense"],
  ["no pixels at all", changed(png, 37, "tEXt", 90, "tEXt"), "is a PNG without a single pixel"],
  ["no width", changed(png, 16, "\0\0\0\0"), "is a PNG without a single pixel"],
  [
    "more pixels than anybody decodes",
    changed(png, 16, "\0\0\x1f\x41"),
    "is a PNG of 8001 × 5 pixels; at most 8000 on each side can be shown",
  ],
  [
    "a frame that is larger than its screen",
    changed(gif, 32, "\xff\xff"),
    "is a GIF of 65535 × 1 pixels; at most 8000 on each side can be shown",
  ],
  ["no frame", Buffer.concat([gif.subarray(0, 27), Buffer.from(";")]), "is a GIF without a single pixel"],
  ["a block of nonsense", changed(gif, 19, "?"), "is a GIF with a block that makes no sense"],
  ["an end alone", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), "is a JPEG without a single pixel"],
  ["a scan alone", Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 0xff, 0xd9]), "is a JPEG without a header"],
  ["a name alone", Buffer.from("RIFF\x04\0\0\0WEBP", "latin1"), "is a WebP without a single pixel"],
  ["letters that are a PDF", Buffer.from("%PDF-1.4\n%%EOF\n"), "is a PDF"],
])("%s is refused, and why is said", (_, bytes, refused) => {
  expect(attachableAs(bytes)).toEqual({ refused, hint: expect.any(String) as string });
});

test.each(["RIFF of a sound", "WEBP", "GIF8 is a format", "\x89PNG"])("%j is no image", (text) => {
  expect(lookAtImage(Buffer.from(text, "latin1"))).toBeUndefined();
});

/** Each at its place. */
function changed(bytes: Buffer, ...changes: readonly (number | string)[]): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = 0; at < changes.length; at += 2) copy.write(String(changes[at + 1]), Number(changes[at]), "latin1");
  return copy;
}
