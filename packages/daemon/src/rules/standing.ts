import type { Judgement, Rulebook } from "@corral/protocol";
import { type BigIntStats, lstatSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { Capability } from "../capabilities/port.ts";
import type { Call } from "./port.ts";

declare module "../capabilities/port.ts" {
  interface Capabilities {
    /** What the rules say of a call at this moment. What comes with it to judge others by is forgotten when the run is told so. */
    "rules.judge": Capability<Call, Judged>;
  }
}

/** A verdict, and what the next ones can be found by, if there is that. */
export interface Judged {
  readonly judgement: Judgement;
  readonly standing?: StandingRules;
}

/**
 * A rulebook to use again, by somebody to whom it is told when anything in it changes that is on record. What files say changes without a word:
 * they are looked at each time, and when one is not what it was, the rulebook is none any more.
 */
export interface StandingRules {
  readonly rulebook: Rulebook;
  readonly files: readonly FileMark[];
}

/** A file of rules as it was found: two marks are the same only if nobody has written to it, replaced it, made it or taken it away in between. */
export interface FileMark {
  readonly file: string;
  readonly mark: string;
}

/**
 * Marks of files that are about to be read; undefined when one of them cannot be told from what it may become. Clocks of file systems tick in steps, so
 * that a file which was just written may be written once more and look the same.
 */
export function marksOf(files: readonly string[], now: number): readonly FileMark[] | undefined {
  try {
    const marks = files.map((file) => ({ file, mark: markOf(file, now - stillFreshMs) }));
    return marks.every(isTelling) ? marks : undefined;
  } catch {
    return undefined;
  }
}

const stillFreshMs = 3_000;

/** Whether the files are what they were when they were read. */
export function stillStand({ files }: StandingRules): boolean {
  try {
    return files.every(({ file, mark }) => markOf(file) === mark);
  } catch {
    return false;
  }
}

function isTelling(each: { readonly file: string; readonly mark: string | undefined }): each is FileMark {
  return each.mark !== undefined;
}

/** Undefined: it was changed after `before`, in milliseconds. Throws where it cannot be looked at. */
function markOf(file: string, before = Infinity): string | undefined {
  if (!isAbsolute(file)) return undefined;
  const folder = lstatSync(dirname(file), quietly);
  if (folder === undefined) return "no folder";
  const own = lstatSync(file, quietly);
  const meant = own?.isSymbolicLink() === true ? statSync(file, quietly) : own;
  const stats = [own, meant].filter((each) => each !== undefined);
  if (stats.some(({ mtimeMs, ctimeMs }) => mtimeMs > before || ctimeMs > before)) return undefined;
  return [`${folder.dev} ${folder.ino} ${folder.mode}`, ...stats.map(identity)].join(", ");
}

const quietly = { bigint: true, throwIfNoEntry: false } as const;

function identity({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`;
}
