import { type ArtifactId, CorralError, type ImageLooked, lookAtImage, mostImageBytes } from "@corral/protocol";
import { z } from "zod";
import type { Environment, FileVersion } from "../environments/index.ts";
import { missing } from "./changes.ts";
import { numbered } from "./match.ts";
import { pathIn } from "./path.ts";
import type { Described, Tool } from "./tool.ts";

const usualLines = 2000;
const mostCharacters = 64 * 1024;
const mostInLine = 2000;

const parameters = z.object({
  path: z.string().min(1).max(4096).describe("The file, from the workspace on."),
  from: z.int().min(1).optional().describe("First line, from 1 on."),
  lines: z.int().min(1).max(10_000).optional().describe(`How many lines; ${usualLines} unless given.`),
});

/** A part of a text file. */
export interface ReadText {
  readonly path: string;
  readonly from: number;
  readonly text: readonly string[];
  /** How many lines it has. */
  readonly of: number;
  readonly isUtf8: boolean;
  readonly versions: Readonly<Record<string, FileVersion>>;
}

/** An image, whole: it is one of the session's artifacts, so that the model is shown the same later. */
export interface ReadImage {
  readonly path: string;
  readonly mediaType: string;
  readonly artifact?: ArtifactId;
  /** In records of a Corral that kept images there. */
  readonly base64?: string;
  readonly versions: Readonly<Record<string, FileVersion>>;
}

export const readTool: Tool<z.infer<typeof parameters>, ReadText | ReadImage> = {
  name: "read",
  description:
    "Reads a file of text, with line numbers, which are no part of it, or shows an image. Long files come in parts, by from and lines. Folders are for list.",
  parameters,
  effect: "reads",
  touches: ({ path }) => ({ paths: [{ path, access: "read" }] }),

  async run({ path: asked, from = 1, lines = usualLines }, { surroundings, signal, keepImage }) {
    const environment = await surroundings.environment();
    const path = pathIn(environment, asked);
    const { bytes, version, size } = await readBytes(environment, path, signal);
    if (version === undefined) throw tooLarge(path, size);
    const versions = { [path]: version };
    const image = lookAtImage(bytes);
    if (image !== undefined) {
      const { mediaType } = image;
      return { path, mediaType, artifact: await keepImage(showable(path, bytes, image), mediaType), versions };
    }
    const { text, isUtf8 } = textOf(path, bytes);
    const all = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
    if (from > Math.max(1, all.length)) throw refused(`${path} has only ${all.length} lines.`);
    return {
      path,
      from,
      text: bounded(all.slice(from - 1, from - 1 + lines)),
      of: all.length,
      isUtf8,
      versions,
    };
  },

  describe(result) {
    if ("mediaType" in result) return shown(result);
    const { from, text, of, isUtf8 } = result;
    if (of === 0) return { outcome: "ok", text: "(the file is empty)" };
    const to = from + text.length - 1;
    const notes = [
      from === 1 && to === of
        ? ""
        : `(lines ${from} to ${to} of ${of}${to < of ? `; go on with from: ${to + 1}` : ""})`,
      isUtf8 ? "" : "(it is not UTF-8: some characters are shown as \uFFFD, and it cannot be edited)",
    ];
    return { outcome: "ok", text: [numbered(text, from), ...notes].filter((part) => part !== "").join("\n") };
  },
};

function shown({ path, mediaType, artifact, base64 = "" }: ReadImage): Described {
  const image = artifact === undefined ? { mediaType, base64 } : { artifact, name: path, mediaType };
  return { outcome: "ok", text: `${path}, ${mediaType}:`, images: [image] };
}

/** A provider that cannot decode an image refuses the whole request, and every later one with it. */
function showable(path: string, bytes: Buffer, image: ImageLooked): Buffer {
  if (bytes.length > mostImageBytes)
    throw refused(
      `${path} is an image of ${bytes.length} bytes; at most ${mostImageBytes} can be shown. Make a smaller one with a program first.`,
    );
  if ("broken" in image) throw refused(`${path} ${image.broken}.`);
  return bytes;
}

async function readBytes(environment: Environment, path: string, signal: AbortSignal) {
  try {
    return await environment.files.read(path, { signal });
  } catch (error) {
    if (!(error instanceof CorralError)) throw error;
    if (error.code === "file.missing") throw await missing(environment, path);
    const isFolder = error.code === "file.unsuitable" && (await environment.files.stat(path))?.kind === "folder";
    throw isFolder ? refused(`${path} is a folder: list it.`) : error;
  }
}

/** As many lines as there is room for, at least one; very long ones are cut. */
function bounded(lines: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let room = mostCharacters;
  for (const line of lines) {
    const cut =
      line.length > mostInLine ? `${line.slice(0, mostInLine)}… (${line.length - mostInLine} more characters)` : line;
    room -= cut.length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(cut);
  }
  return shown;
}

function textOf(path: string, bytes: Buffer): { text: string; isUtf8: boolean } {
  if (bytes.subarray(0, 8192).includes(0)) throw binary(path, bytes);
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isUtf8: true };
  } catch {
    return { text: new TextDecoder("utf-8").decode(bytes), isUtf8: false };
  }
}

function binary(path: string, bytes: Buffer): CorralError {
  return refused(
    `${path} is binary (${bytes.length} bytes). Look at it with a program in the shell, such as file or xxd.`,
  );
}

function tooLarge(path: string, size: number): CorralError {
  return refused(`${path} has ${size} bytes, too many to show by lines. Use search, or sed -n in the shell.`);
}

function refused(message: string): CorralError {
  return new CorralError("call.refused", message);
}
