import { CorralError } from "@corral/protocol";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Owner } from "../port.ts";
import { jailOwner } from "./workspace.ts";

/**
 * Under root each workspace of Corral's own has a uid, and a gid of the same number, for itself. The folder `uids` of the home holds one empty
 * file, whose name is the last number that was given.
 *
 * 1. A number is given by renaming that file to the next one. Of all processes that try, one succeeds; the others look again.
 * 2. The rename is on disk before the number is used, and numbers only go up: no number is given twice, whatever is left of an earlier one.
 * 3. Each home begins at a random number, so that two homes on one machine do not meet.
 */
export function ownersIn(home: string): (() => Promise<Owner>) | undefined {
  const shared = jailOwner();
  if (shared === undefined) return undefined;
  const folder = join(home, "uids");
  return async () => (canOwn() ? both(await nextIn(folder)) : shared);
}

/**
 * Numbers that belong to nobody by the usual conventions: above what systemd gives to containers (up to 0x6fffffff), shadow's subordinate ids
 * (up to 600,100,000) and what SSSD derives for directory users (up to 2,000,200,000); below systemd's foreign ids (0x7ffe0000) and below 2^31,
 * from where some programs read negative numbers.
 */
export const ownerRange = { first: 0x7800_0000, last: 0x7ffd_ffff } as const;

async function nextIn(folder: string): Promise<number> {
  for (;;) {
    const last = await lastIn(folder);
    if (last === undefined) {
      await begin(folder);
      continue;
    }
    const next = firstFree(last + 1, await accounts());
    try {
      await rename(join(folder, String(last)), join(folder, String(next)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      continue;
    }
    await sync(folder);
    return next;
  }
}

/** Undefined: none was given yet, or another process renames the file at this moment. */
async function lastIn(folder: string): Promise<number | undefined> {
  const numbers = (await readdir(folder).catch(orNone)).filter((name) => /^\d+$/.test(name)).map(Number);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

/** The folder appears with its file in it; where it is there already, nothing changes. */
async function begin(folder: string): Promise<void> {
  const beside = await mkdtemp(`${folder}.`);
  const { first, last } = ownerRange;
  await writeFile(join(beside, String(randomInt(first, first + Math.floor((last - first) / 2)))), "");
  try {
    await rename(beside, folder);
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface Range {
  readonly first: number;
  readonly count: number;
}

/** What the machine's own files give to others. */
async function accounts(): Promise<Range[]> {
  const files = ["passwd", "group", "subuid", "subgid"].map((name) =>
    readFile(join("/etc", name), "utf8").catch(() => ""),
  );
  const [passwd = "", group = "", ...subordinate] = await Promise.all(files);
  return rangesIn({ passwd, group, subordinate: subordinate.join("\n") });
}

export function rangesIn(files: Readonly<Record<"passwd" | "group" | "subordinate", string>>): Range[] {
  const fields = (text: string) => text.split("\n").map((line) => line.split(":"));
  const one = (id: string | undefined) => ({ first: Number(id), count: 1 });
  return [
    ...fields(files.passwd).flatMap(([, , uid, gid]) => [one(uid), one(gid)]),
    ...fields(files.group).map(([, , gid]) => one(gid)),
    ...fields(files.subordinate).map(([, first, count]) => ({ first: Number(first), count: Number(count) })),
  ].filter(({ first, count }) => first + count > ownerRange.first);
}

export function firstFree(wanted: number, taken: readonly Range[]): number {
  const over = taken.find(({ first, count }) => wanted >= first && wanted < first + count);
  if (over !== undefined) return firstFree(over.first + over.count, taken);
  if (wanted <= ownerRange.last) return wanted;
  throw new CorralError("workspace.failed", "There is no uid left for another workspace.", {
    hint: "Begin with another CORRAL_HOME",
    retry: "never",
  });
}

/** Root in a container may have too few uids to give any away: then all workspaces share one. */
export function canOwn(): boolean {
  return ["uid_map", "gid_map"].every((name) => holdsRange(readFileSync(`/proc/self/${name}`, "latin1")));
}

/** Whether a user namespace has all of the numbers. */
export function holdsRange(map: string): boolean {
  const { first, last } = ownerRange;
  return map.split("\n").some((line) => {
    const [inside = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return inside <= first && inside + count > last;
  });
}

function both(id: number): Owner {
  return { uid: id, gid: id };
}

function orNone(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
