import type { Match } from "./command-pattern.ts";
import { matches, signs, type Token } from "./wildcards.ts";

/**
 * A path as rules compare it: from the workspace's folder where it is in it (`src/a.ts`, `.` for the folder itself), else absolute.
 * Undefined: its words do not tell where it leads. Nothing is looked up: what an agent could have linked is not followed, so a `..` behind
 * a name leads nobody knows where.
 */
export function placeOf(path: string, folder: string, from: string | undefined): string | undefined {
  if (path === "" || path.length > longest || path.includes("\0") || path.startsWith("~") || leadsAway.test(path))
    return undefined;
  if (!path.startsWith("/") && from === undefined) return undefined;
  const [up, rest] = leadingUp(path.split("/").filter((name) => name !== "" && name !== "."));
  if (rest.includes("..")) return undefined;
  const start = path.startsWith("/") ? [] : (from ?? "").split("/").filter((name) => name !== "");
  return fromFolder(`/${[...start.slice(0, Math.max(0, start.length - up)), ...rest].join("/")}`, folder);
}

/** No system takes a longer one. */
const longest = 4096;

/** Links that the system makes to whatever a process has open: the workspace itself by another name. */
const leadsAway = /^\/+(?:proc\/+(?:[^/]*self|\d+)\/|dev\/+fd(?:\/|$))/;

function leadingUp(names: readonly string[]): readonly [number, readonly string[]] {
  const up = names.findIndex((name) => name !== "..");
  return up < 0 ? [names.length, []] : [up, names.slice(up)];
}

function fromFolder(absolute: string, folder: string): string {
  if (absolute === folder) return ".";
  return absolute.startsWith(`${folder}/`) ? absolute.slice(folder.length + 1) : absolute;
}

export function isOutside(place: string | undefined): boolean {
  return place === undefined || place.startsWith("/");
}

export interface PathPattern {
  readonly tokens: readonly Token[];
  /** What stands before its first wildcard. */
  readonly beginning: string;
}

/** `*` and `?` within a folder, `**` across folders; a pattern that names a folder is for all that is in it. */
export function pathPattern(written: string): PathPattern {
  const anchored = written.replace(/^\.\//, "").replace(/(?<=.)\/+$/, "");
  const tokens = anchored.split(/(\*\*\/|\*\*|\*|\?)/).flatMap((piece) => wildcards.get(piece) ?? signs(piece));
  return { tokens: [...tokens, ...andBelow], beginning: anchored.split(/[*?]/, 1)[0] ?? "" };
}

const wildcards: ReadonlyMap<string, readonly Token[]> = new Map<string, Token[]>([
  ["**/", ["perhaps", "any", { sign: "/" }]],
  ["**", ["any"]],
  ["*", ["some"]],
  ["?", ["one"]],
]);

const andBelow: readonly Token[] = ["perhaps", { sign: "/" }, "any"];

interface Used {
  readonly path: string | undefined;
  readonly isBelow?: boolean;
  readonly isGuess?: boolean;
}

/** Whether all that may be used, or some of it, is what the pattern speaks of. */
export function matchesPath(
  { tokens, beginning }: PathPattern,
  { path, isBelow, isGuess }: Used,
  which: "all" | "some",
): Match {
  if (path === undefined) return "maybe";
  if (path.startsWith(beginning) && matches(tokens, path)) return "yes";
  if (which === "all") return "no";
  // A program that nobody knows may go through a folder that it is given.
  if (isBelow !== true) return isGuess === true && beginning.startsWith(`${path}/`) ? "maybe" : "no";
  const folder = path === "." ? "" : `${path}/`;
  const isWithin = path.startsWith("/") === beginning.startsWith("/") || path === "/";
  return isWithin && (beginning.startsWith(folder) || folder.startsWith(beginning)) ? "maybe" : "no";
}
