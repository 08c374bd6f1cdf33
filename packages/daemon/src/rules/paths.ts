import type { Match } from "./command-pattern.ts";

/**
 * A path as rules compare it: from the workspace's folder where it is in it (`src/a.ts`, `.` for the folder itself), else absolute.
 * Undefined: its words do not tell where it leads. Nothing is looked up: what an agent could have linked is not followed, so a `..` behind
 * a name leads nobody knows where.
 */
export function placeOf(path: string, folder: string, from: string | undefined): string | undefined {
  if (path === "" || path.includes("\0") || path.startsWith("~")) return undefined;
  if (!path.startsWith("/") && from === undefined) return undefined;
  const [up, rest] = leadingUp(path.split("/").filter((name) => name !== "" && name !== "."));
  if (rest.includes("..")) return undefined;
  const start = path.startsWith("/") ? [] : (from ?? "").split("/").filter((name) => name !== "");
  return fromFolder(`/${[...start.slice(0, Math.max(0, start.length - up)), ...rest].join("/")}`, folder);
}

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
  readonly test: RegExp;
  /** What stands before its first wildcard. */
  readonly beginning: string;
}

/** `*` and `?` within a folder, `**` across folders; a pattern that names a folder is for all that is in it. */
export function pathPattern(written: string): PathPattern {
  const anchored = written.replace(/^\.\//, "").replace(/(?<=.)\/+$/, "");
  const source = anchored
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((piece) => wildcards[piece] ?? RegExp.escape(piece))
    .join("");
  return { test: new RegExp(`^${source}(?:/.*)?$`, "s"), beginning: anchored.split(/[*?]/, 1)[0] ?? "" };
}

const wildcards: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };

interface Used {
  readonly path: string | undefined;
  readonly isBelow?: boolean;
}

/** Whether all that may be used, or some of it, is what the pattern speaks of. */
export function matchesPath({ test, beginning }: PathPattern, { path, isBelow }: Used, which: "all" | "some"): Match {
  if (path === undefined) return "maybe";
  if (test.test(path)) return "yes";
  if (isBelow !== true || which === "all") return "no";
  const folder = path === "." ? "" : `${path}/`;
  const isWithin = path.startsWith("/") === beginning.startsWith("/") || path === "/";
  return isWithin && (beginning.startsWith(folder) || folder.startsWith(beginning)) ? "maybe" : "no";
}
