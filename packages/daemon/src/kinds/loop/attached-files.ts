import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { lookAtImage } from "@corral/protocol";
import type { Image, Message, ToolResult } from "../../providers/index.ts";
import type { AttachedFile, History } from "../../sessions/index.ts";

/** A message whose images and attachments are named, and not read yet. */
export type Draft = Message<Shown>;
export type Shown = Image | AttachedFile;

export interface Showing {
  readonly files: History["files"];
  /** Whether the model can look at images; undefined: nobody knows, and it is tried. */
  readonly images: boolean | undefined;
}

/** All images of a request together, as base64: providers take some thirty megabytes in all. */
const mostTogether = 20_000_000;

/**
 * The messages as a model gets them: images as images, texts as text. What cannot be shown is told in words in its place: the model
 * looks at none, the file is kept no more, or later ones need the room.
 */
export async function showFiles(drafts: readonly Draft[], showing: Showing): Promise<readonly Message[]> {
  if (!drafts.some(hasFiles)) return drafts as readonly Message[];
  const room = { left: mostTogether };
  const messages: Message[] = [];
  // The newest first, for they are what is talked about.
  for (const draft of drafts.toReversed())
    messages.unshift(hasFiles(draft) ? await shown(draft, showing, room) : (draft as Message));
  return messages;
}

function hasFiles(draft: Draft): boolean {
  if (draft.role === "user") return (draft.images?.length ?? 0) > 0;
  return draft.role === "tool" && draft.results.some(({ images = [] }) => images.length > 0);
}

interface Room {
  left: number;
}

async function shown(draft: Draft, showing: Showing, room: Room): Promise<Message> {
  if (draft.role === "user") return { role: "user", ...(await worded(draft, showing, room)) };
  if (draft.role !== "tool") return draft;
  const results: ToolResult[] = [];
  for (const result of draft.results.toReversed())
    results.unshift({ ...result, ...(await worded(result, showing, room)) });
  return { role: "tool", results };
}

async function worded(
  { text, images = [] }: { readonly text: string; readonly images?: readonly Shown[] },
  showing: Showing,
  room: Room,
): Promise<{ text: string; images: readonly Image[] }> {
  const found: Looked[] = [];
  for (const each of images) found.push(fitting(await looked(each, showing), each, room));
  const words = found.flatMap((each) => ("words" in each ? [each.words] : []));
  return {
    text: [text, ...words].join("\n"),
    images: found.flatMap((each) => ("words" in each ? [] : [each])),
  };
}

type Looked = Image | { readonly words: string };

async function looked(what: Shown, { files, images }: Showing): Promise<Looked> {
  const isImage = what.mediaType.startsWith("image/");
  if (isImage && images === false) return { words: `[${nameOf(what)}: this model cannot look at images]` };
  if ("base64" in what) return what;
  const bytes = await bytesOf(files.get(what.artifact));
  if (bytes === undefined) return { words: `[${nameOf(what)}: it is kept no more and cannot be shown]` };
  const image = lookAtImage(bytes);
  if (image !== undefined) {
    if (images === false) return { words: `[${nameOf(what)}: this model cannot look at images]` };
    // Kept by a Corral that took whatever begins like an image. Shown to a provider, it would cost the whole request.
    if ("broken" in image) return { words: `[${nameOf(what)}: it ${image.broken}]` };
    return { mediaType: image.mediaType, base64: bytes.toString("base64") };
  }
  return { words: `[attached: ${what.name}]\n${bytes.toString("utf8")}\n[end of ${what.name}]` };
}

function fitting(found: Looked, what: Shown, room: Room): Looked {
  if ("words" in found) return found;
  room.left -= found.base64.length;
  return room.left >= 0 ? found : { words: `[${nameOf(what)}: left out, for there are so many later ones]` };
}

function nameOf(what: Shown): string {
  return "name" in what ? `${what.name}, ${what.mediaType}` : `an image, ${what.mediaType}`;
}

/** As they were kept, or not at all. The file is in a folder that is the daemon's alone. */
async function bytesOf(file: { readonly url: string; readonly digest: string | undefined } | undefined) {
  if (file?.digest === undefined) return undefined;
  try {
    const bytes = await readFile(fileURLToPath(file.url));
    return createHash("sha256").update(bytes).digest("hex") === file.digest ? bytes : undefined;
  } catch {
    return undefined;
  }
}
