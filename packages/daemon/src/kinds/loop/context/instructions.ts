import { posix } from "node:path";
import { CorralError } from "@corral/protocol";
import type { FileEntry, Files } from "../../../environments/index.ts";
import type { Topic } from "./topic.ts";

/**
 * Files with instructions for agents, of a repository. Whoever can write to it wrote them, so they are looked at in the environment,
 * are bounded, and no link is followed, be it the file or a folder above it.
 */
export interface InstructionsLook {
  readonly files: Pick<Files, "list" | "read">;
  readonly signal: AbortSignal;
  /** What folders were found to hold in this look, so that each is listed once. */
  readonly listed: Map<string, Promise<readonly FileEntry[] | undefined>>;
}

const names = [
  "AGENTS.md",
  "CLAUDE.md",
  "GEMINI.md",
  ".cursorrules",
  ".windsurfrules",
  ".clinerules",
  "CONVENTIONS.md",
];
/** Elsewhere than in the folder that they are about. */
const below = [".github/copilot-instructions.md"];
const mostBytes = 16 * 1024;

/** Whether a file of this name tells agents what to do. */
export function isInstructions(path: string): boolean {
  return names.includes(posix.basename(path)) || below.includes(path);
}

/** What a folder says to agents; undefined: it could not be found out. What says the same as another of its files only says so. */
export async function instructionsIn(look: InstructionsLook, folder: string): Promise<readonly Topic[] | undefined> {
  const entries = await entriesOf(look, folder);
  if (entries === undefined) return undefined;
  const beside = new Set(entries.filter(({ kind }) => kind === "file").map(({ name }) => name));
  const ordered = [...names.filter((name) => beside.has(name)), ...(folder === "." ? await deeper(look, below) : [])];
  const topics = await Promise.all(ordered.map((name) => readTopic(look, posix.join(folder, name))));
  const found = topics.filter((topic) => topic !== undefined).filter(({ text }) => text !== "");
  return found.map((topic, index) => {
    const first = found.find(({ text }) => text === topic.text) ?? topic;
    return found.indexOf(first) === index ? topic : { ...topic, text: `It says the same as ${first.name}.` };
  });
}

/** Folders from the workspace down to this one, as far as they are folders and no links. */
export async function foldersTo(look: InstructionsLook, folder: string): Promise<readonly string[]> {
  const parts = folder.split("/");
  if (posix.isAbsolute(folder) || parts[0] === "." || parts[0] === "..") return [];
  const folders: string[] = [];
  for (const [index, part] of parts.entries()) {
    const above = index === 0 ? "." : parts.slice(0, index).join("/");
    if (!(await isIn(look, above, part, "folder"))) break;
    folders.push(posix.join(above, part));
  }
  return folders;
}

async function deeper(look: InstructionsLook, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const [folder, name] = [posix.dirname(path), posix.basename(path)];
    if ((await isIn(look, ".", folder, "folder")) && (await isIn(look, folder, name, "file"))) found.push(path);
  }
  return found;
}

async function isIn(look: InstructionsLook, folder: string, name: string, kind: FileEntry["kind"]): Promise<boolean> {
  return ((await entriesOf(look, folder)) ?? []).some((entry) => entry.name === name && entry.kind === kind);
}

/** Undefined: nobody can tell now. */
function entriesOf(
  { files, signal, listed }: InstructionsLook,
  folder: string,
): Promise<readonly FileEntry[] | undefined> {
  const known = listed.get(folder);
  if (known !== undefined) return known;
  const listing = files.list(folder, { limit: 10_000, signal, timeoutMs: patienceMs }).then(
    ({ items }) => items,
    (error: unknown) => (error instanceof CorralError && error.code === "file.missing" ? [] : undefined),
  );
  listed.set(folder, listing);
  return listing;
}

async function readTopic({ files, signal }: InstructionsLook, path: string): Promise<Topic | undefined> {
  const read = await files.read(path, { bytes: mostBytes, signal, timeoutMs: patienceMs }).catch(() => undefined);
  return read === undefined ? undefined : { name: path, text: cut(read.bytes, read.size) };
}

/** The user's own, or a project's: as much of it as is told. */
export function cut(bytes: Buffer, size: number): string {
  const text = new TextDecoder().decode(bytes.subarray(0, mostBytes)).trim();
  return size <= mostBytes ? text : `${text}\n(cut here: it has ${size} bytes; read the rest if you need it)`;
}

const patienceMs = 3000;
