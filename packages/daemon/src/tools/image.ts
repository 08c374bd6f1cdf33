/** What models can look at, by how the file begins; undefined: it is no such image. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  return types.find(({ at = 0, begins }) => bytes.subarray(at, at + begins.length).equals(begins))?.mediaType;
}

const types: readonly { readonly mediaType: string; readonly at?: number; readonly begins: Buffer }[] = [
  { mediaType: "image/png", begins: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { mediaType: "image/jpeg", begins: Buffer.from([0xff, 0xd8, 0xff]) },
  { mediaType: "image/gif", begins: Buffer.from("GIF8") },
  { mediaType: "image/webp", at: 8, begins: Buffer.from("WEBP") },
];
