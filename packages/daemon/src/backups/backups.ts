import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BackupView, CorralError } from "@corral/protocol";
import type { Log } from "../log/index.ts";

/**
 * Copies of the log, all in one folder of the home.
 *
 * 1. The daemon chooses the names: no request makes it write anywhere else, or over anything.
 * 2. One copy is made at a time.
 * 3. What a copy that was cut off left behind goes when the daemon starts, and when the next one is made.
 */
export interface Backups {
  make(): Promise<BackupView>;
}

export interface BackupsOptions {
  readonly log: Pick<Log, "backup">;
  readonly folder: string;
  readonly now?: () => Date;
}

export function openBackups({ log, folder, now = () => new Date() }: BackupsOptions): Backups {
  let last: Promise<unknown> = Promise.resolve();
  if (existsSync(folder)) removePartial(folder);
  return {
    make() {
      const made = last.then(make);
      last = made.catch(() => undefined);
      return made;
    },
  };

  async function make(): Promise<BackupView> {
    prepare(folder);
    const path = freeName(join(folder, `corral-${stamp(now())}`));
    const { events, head } = await log.backup(path);
    return { path, bytes: statSync(path).size, events, seq: head };
  }
}

function prepare(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removePartial(folder);
  } catch (cause) {
    throw new CorralError("log.unwritable", `${folder} cannot hold backups: ${(cause as Error).message}`, {
      cause,
      retry: "later",
      hint: "See that the folder is yours and that its disk has room",
    });
  }
}

function removePartial(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith(".partial")) rmSync(join(folder, name), { force: true });
}

function freeName(base: string): string {
  for (let n = 1; ; n++) {
    const path = `${base}${n === 1 ? "" : `-${n}`}.db`;
    if (!existsSync(path)) return path;
  }
}

/** To the second, in characters that any file system takes. */
function stamp(now: Date): string {
  return now
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "");
}
