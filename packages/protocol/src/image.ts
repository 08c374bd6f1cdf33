/** The largest image that is shown to a model: providers take five megabytes of it as base64. */
export const mostImageBytes = 3_750_000;

/** The longest text that comes along with a prompt. */
export const mostAttachedText = 256 * 1024;

/** What models can look at, by how the file begins; undefined: it is no such image. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  return types.find(({ at = 0, begins }) => begins.every((byte, index) => bytes[at + index] === byte))?.mediaType;
}

const types: readonly { readonly mediaType: string; readonly at?: number; readonly begins: readonly number[] }[] = [
  { mediaType: "image/png", begins: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { mediaType: "image/jpeg", begins: [0xff, 0xd8, 0xff] },
  { mediaType: "image/gif", begins: letters("GIF8") },
  { mediaType: "image/webp", at: 8, begins: letters("WEBP") },
];

function letters(word: string): readonly number[] {
  return Array.from(word, (letter) => letter.charCodeAt(0));
}

/** What bytes may be attached as: an image, or text; otherwise why not, in words that go behind the file's name. */
export function attachableAs(
  bytes: Uint8Array,
): { readonly mediaType: string } | { readonly refused: string; readonly hint: string } {
  const image = imageTypeOf(bytes);
  if (image !== undefined && bytes.length > mostImageBytes)
    return {
      refused: `is an image of ${bytes.length} bytes; at most ${mostImageBytes} can be attached`,
      hint: "Make it smaller first",
    };
  if (image !== undefined) return { mediaType: image };
  if (bytes.length === 0) return { refused: "is empty", hint: "Attach a file with something in it" };
  if (!isText(bytes))
    return {
      refused: "is neither an image that models can look at nor text",
      hint: "PNG, JPEG, GIF, WebP and UTF-8 can be attached",
    };
  if (bytes.length > mostAttachedText)
    return {
      refused: `is a text of ${bytes.length} bytes; at most ${mostAttachedText} can be attached`,
      hint: "Attach a part of it, or put it into the repository, where the agent can search it",
    };
  return { mediaType: "text/plain" };
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
