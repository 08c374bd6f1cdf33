import { lookAtImage } from "./image-format.ts";

/** The largest image that is shown to a model: providers take five megabytes of it as base64. */
export const mostImageBytes = 3_750_000;

/** The longest text that comes along with a prompt. */
export const mostAttachedText = 256 * 1024;

/** What bytes may be attached as: an image, or text; otherwise why not, in words that go behind the file's name. */
export function attachableAs(
  bytes: Uint8Array,
): { readonly mediaType: string } | { readonly refused: string; readonly hint: string } {
  const image = lookAtImage(bytes);
  if (image !== undefined && bytes.length > mostImageBytes)
    return {
      refused: `is an image of ${bytes.length} bytes; at most ${mostImageBytes} can be attached`,
      hint: "Make it smaller first",
    };
  if (image !== undefined && "broken" in image)
    return { refused: image.broken, hint: "Attach an image that a viewer can show" };
  if (image !== undefined) return { mediaType: image.mediaType };
  if (bytes.length === 0) return { refused: "is empty", hint: "Attach a file with something in it" };
  if (isPdf(bytes)) return { refused: "is a PDF", hint: "Attach its text, or its pages as images" };
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

/** It may be made of letters alone, and nobody wants it told as they are. */
function isPdf(bytes: Uint8Array): boolean {
  return Array.from("%PDF-").every((letter, index) => bytes[index] === letter.charCodeAt(0));
}
