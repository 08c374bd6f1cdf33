import { CorralError } from "@corral/protocol";
import { failureOf } from "../failure.ts";
import { HandRefused, type Spawn } from "../hands/hand.ts";
import { ignoredBy } from "./ignore.ts";
import { pathGlobOf } from "./glob.ts";
import { inside } from "../path.ts";
import type { FileStat, Files, Listed, ListOptions } from "../port.ts";
import { isWhole, type ProcessEnd, runProcess } from "../hands/run-process.ts";

/** What finding and searching need: programs, and the files that say what git ignores. */
export interface World {
  readonly spawn: Spawn;
  readonly read: Files["read"];
  readonly stat: (path: string) => Promise<FileStat | undefined>;
  /** Aborted when the environment is let go. */
  readonly signal: AbortSignal;
}

export interface Hunt extends ListOptions {
  readonly pattern: string;
  readonly in?: string;
}

/** Regular files below a folder whose path matches, without what .gitignore files name, in the order of their paths. */
export async function findFiles(
  world: World,
  { pattern, in: start = ".", limit = 1000, ...bounds }: Hunt,
): Promise<Listed<string>> {
  const folder = folderOf(start);
  const fits = pathGlobOf(pattern);
  const items: string[] = [];
  const { complete } = await eachFile(world, folder, {
    ...bounds,
    onPath: (path) => {
      if (fits(below(path, folder))) items.push(path);
      return items.length <= limit;
    },
  });
  return { items: items.slice(0, limit), complete: complete && items.length <= limit };
}

/** `src/./lib/` is `src/lib`; the workspace itself is nothing. */
export function folderOf(path: string): string {
  inside(path);
  const root = path.startsWith("/") ? "/" : "";
  return (
    root +
    path
      .split("/")
      .filter((name) => name !== "" && name !== ".")
      .join("/")
  );
}

/** As programs are given it, so that they name what they find in the same way. */
export function rootOf(folder: string): string {
  return folder === "" ? "." : inside(folder);
}

/** The path as it is told: `./` is left out. */
export function toldPath(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
}

export function below(path: string, folder: string): string {
  if (folder === "") return path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path.slice(path.lastIndexOf("/") + 1);
}

export interface Walk {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Gives false when there were enough. */
  readonly onPath: (path: string) => boolean;
}

export const defaultTimeoutMs = 20_000;

/** Ripgrep's ways that are not ours are switched off: what is hidden counts, and nothing but .gitignore files ignores. */
export const ripgrepOptions = [
  "--no-config",
  "--hidden",
  "--no-require-git",
  "--no-ignore-dot",
  "--no-ignore-global",
  "--no-ignore-exclude",
  "--no-messages",
  "--glob=!.git",
  "--sort=path",
  "--null",
] as const;

/** Runs a program that may not be there: then its exit code is 127. */
export function ifThere(program: string, ...options: readonly string[]): [string, ...string[]] {
  return ["sh", "-c", 'command -v "$0" >/dev/null || exit 127; exec "$0" "$@"', program, ...options];
}

export async function eachFile(world: World, folder: string, walk: Walk): Promise<{ readonly complete: boolean }> {
  await mustBeThere(world, folder);
  let isAnyTold = false;
  const names = nulSeparated((name) => {
    isAnyTold = true;
    return walk.onPath(toldPath(name));
  });
  const end = await runProcess(world.spawn, {
    argv: ifThere("rg", "--files", ...ripgrepOptions, "--", rootOf(folder)),
    onOutput: names,
    timeoutMs: walk.timeoutMs ?? defaultTimeoutMs,
    signal: signalOf(world, walk.signal),
  });
  if (!isAnyTold && (isMissing(end) || complains(end))) return eachFileWithoutRipgrep(world, folder, walk);
  return { complete: isWhole(end) && !complains(end) };
}

export function isMissing({ kind, exitCode }: ProcessEnd): boolean {
  return kind === "ended" && exitCode === 127;
}

/** Ripgrep says nothing about files that it cannot read, so it is what it was asked that it did not understand: it may be too old. */
export function complains(end: ProcessEnd): boolean {
  return isWhole(end) && end.exitCode !== 0 && end.stderr !== "";
}

export async function mustBeThere(world: World, folder: string): Promise<void> {
  const found = await world.stat(rootOf(folder));
  if (found === undefined) throw failureOf(new HandRefused("No such file or directory"), folder);
  if (found.kind === "other") throw failureOf(new HandRefused("not a folder"), folder);
}

export function signalOf(world: World, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? world.signal : AbortSignal.any([signal, world.signal]);
}

/** Everything that `find` finds, then what is ignored is taken out here, but for what was named itself. Also sorted here. */
async function eachFileWithoutRipgrep(
  world: World,
  folder: string,
  walk: Walk,
): Promise<{ readonly complete: boolean }> {
  const found: string[] = [];
  const end = await runProcess(world.spawn, {
    argv: ["find", "-H", rootOf(folder), "-name", ".git", "-prune", "-o", "-type", "f", "-print0"],
    onOutput: nulSeparated((name) => found.push(toldPath(name)) < maxFound),
    timeoutMs: walk.timeoutMs ?? defaultTimeoutMs,
    signal: signalOf(world, walk.signal),
  });
  const isIgnored = ignoredBy(await ignoreFiles(world, folder, found));
  const kept = found.filter((path) => path === folder || !isIgnored(path, folder)).toSorted(byPath);
  const enough = kept.some((path) => !walk.onPath(path));
  return { complete: isWhole(end) && !enough };
}

const maxFound = 500_000;

/** By folder: those above the start, down from the workspace, count as well. */
async function ignoreFiles(world: World, folder: string, found: readonly string[]): Promise<Map<string, string>> {
  const names = folder.startsWith("/") ? [] : folder.split("/");
  const above = names.map((_, depth) => [...names.slice(0, depth), ".gitignore"].join("/"));
  const all = [...new Set([...above, ...found.filter((path) => /(^|\/)\.gitignore$/.test(path))])].slice(0, 1000);
  const texts = await Promise.all(
    all.map(async (path) => [path.replace(/\/?\.gitignore$/, ""), await textOf(world, path)] as const),
  );
  return new Map(texts);
}

async function textOf(world: World, path: string): Promise<string> {
  const maxBytes = 2 ** 18;
  return world.read(path, { bytes: maxBytes }).then(
    ({ bytes }) => bytes.toString(),
    (error: unknown) => {
      if (error instanceof CorralError && error.code.startsWith("file.")) return "";
      throw error;
    },
  );
}

/** Names before what lies in the folder of that name, by their bytes. */
function byPath(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a.replaceAll("/", "\0")), Buffer.from(b.replaceAll("/", "\0")));
}

/** Cuts a stream at each NUL. */
function nulSeparated(onName: (name: string) => boolean): (chunk: Buffer) => boolean {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let end = held.indexOf(0); end !== -1; end = held.indexOf(0)) {
      const name = held.toString("utf8", 0, end);
      held = held.subarray(end + 1);
      if (!onName(name)) return false;
    }
    return true;
  };
}
