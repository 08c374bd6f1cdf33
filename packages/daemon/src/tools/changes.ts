import { type CallChange, CorralError } from "@corral/protocol";
import type { Environment, Files, FileVersion } from "../environments/index.ts";
import type { Recovered, ToolContext } from "./tool.ts";

/**
 * Changes of files that can be found out after a crash.
 *
 * 1. What each file was and will be is on record before the first one is changed.
 * 2. A file is only changed from the version that was recorded.
 * 3. So a file is at its old version, at its new one, or somebody else's; carrying out changes that were begun skips what is done.
 */

/** What a file is to hold, from what it holds (undefined: nothing is there). */
export type NewContent = (change: CallChange, text: string | undefined) => string;

/** Carries out what is not done yet of what was intended; gives the versions that the files have then. */
export async function carryOut(context: ToolContext, contentOf: NewContent): Promise<Record<string, FileVersion>> {
  const { files } = await context.surroundings.environment();
  const versions: Record<string, FileVersion> = {};
  const done: string[] = [];
  for (const change of context.intended) {
    try {
      const version = await carryOutOne(files, change, contentOf);
      if (version !== undefined) versions[change.path] = version;
    } catch (error) {
      throw done.length === 0 ? error : halfDone(error, done);
    }
    done.push(change.path);
  }
  return versions;
}

async function carryOutOne(files: Files, change: CallChange, contentOf: NewContent): Promise<FileVersion | undefined> {
  const { path, before, after, from } = change;
  if (from !== undefined) await bring(files, { path, before, from });
  const version = (await currentVersion(files, path)) ?? null;
  if (version === after) return after ?? undefined;
  if (version !== before) throw changed(path);
  if (after === null) {
    await files.remove(path, before === null ? {} : { expected: before });
    return undefined;
  }
  const text = before === null ? undefined : (await readTextFile(files, path, { binary: "as it is" }))?.text;
  return files.write(path, contentOf(change, text), { expected: before });
}

/** A move that was cut off may have left the file in both places. */
async function bring(files: Files, { path, before, from }: { path: string; before: FileVersion | null; from: string }) {
  const expected = before === null ? {} : { expected: before };
  if ((await files.stat(path)) === undefined) return files.move(from, path, expected);
  if ((await currentVersion(files, from)) === before) await files.remove(from, expected);
}

/** Whether a call that began can be gone on with: each file is as it was, or as it was to be. */
export async function lookAt({ surroundings, intended }: ToolContext): Promise<Recovered<never>> {
  const { files } = await surroundings.environment();
  for (const { path, before, after, from } of intended) {
    const now = (await currentVersion(files, path)) ?? null;
    // What comes from elsewhere is at its new place in its old version for a moment.
    const expected = from === undefined ? [before, after] : [null, before, after];
    if (!expected.includes(now))
      return { kind: "unknown", reason: `${path} is neither what it was nor what it was to be.` };
  }
  return { kind: "join" };
}

async function currentVersion(files: Files, path: string): Promise<FileVersion | undefined> {
  try {
    const { version, bytes } = await files.read(path, { bytes: mostBytes });
    return version ?? `longer than ${bytes.length} bytes`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A text file as it is to be worked on. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
  readonly version: FileVersion;
}

/**
 * Reads a whole text file; undefined: there is none. Throws what a model can act on. `binary`: whether what is no text is refused; else
 * it is read as if it were.
 */
export async function readTextFile(
  files: Files,
  path: string,
  { binary = "refused" }: { readonly binary?: "refused" | "as it is" } = {},
): Promise<TextFile | undefined> {
  const read = await files.read(path, { bytes: mostBytes }).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (read === undefined) return undefined;
  if (read.version === undefined) throw tooLarge(path, read.size);
  const text =
    binary === "refused" ? textOf(path, read.bytes) : new TextDecoder("utf-8", { ignoreBOM: true }).decode(read.bytes);
  return { path, text, version: read.version };
}

/** The error for a file that is not there, with where else one of that name is. */
export async function missing({ files }: Environment, path: string): Promise<CorralError> {
  const name = path.split("/").at(-1) ?? path;
  const { items } = await files
    .glob(name.replaceAll(/[*?[\]{}\\]/g, "?"), { limit: 5, timeoutMs: 2000 })
    .catch(() => ({ items: [] as readonly string[] }));
  const elsewhere = items.length === 0 ? "" : ` Files of that name: ${items.join(", ")}.`;
  return new CorralError("file.missing", `There is no file ${path}.${elsewhere}`);
}

/** Files are worked on whole; what is larger is for programs. */
const mostBytes = 8 * 2 ** 20;

function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CorralError("file.unsuitable", `${path} is not text in UTF-8: change it with a program in the shell.`, {
      cause,
    });
  }
}

function tooLarge(path: string, size: number): CorralError {
  return new CorralError(
    "file.too-large",
    `${path} has ${size} bytes: change files of this size with a program in the shell.`,
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof CorralError && error.code === "file.missing";
}

function changed(path: string): CorralError {
  return new CorralError("file.changed", `${path} was changed by somebody else just now. Read it again.`);
}

function halfDone(error: unknown, done: readonly string[]): CorralError {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof CorralError ? error.code : "file.failed";
  return new CorralError(code, `${message}. These were changed before: ${done.join(", ")}; the rest was not.`, {
    cause: error,
  });
}
