import { existsSync, rmSync, writeFileSync } from "node:fs";
import { CorralError } from "@corral/protocol";
import type { Log } from "../port.ts";
import { damaged } from "./failures.ts";
import { givenAt } from "./given.ts";
import { requireKnownSchema, sizeOf } from "./header.ts";
import { integrityOf } from "./integrity.ts";
import type { SqliteLogOptions } from "./log.ts";
import { openSqliteLog } from "./open.ts";
import { removeHalfRestored } from "./restore.ts";
import { setAside } from "./set-aside.ts";

export interface Beginning extends SqliteLogOptions {
  /** Told before the new log is begun. */
  readonly onSetAside: (damage: SetAside) => void;
  /** A file up to this size is looked at as a whole whenever it is opened, which takes some 3 ms for each megabyte. */
  readonly alwaysCheckedBytes?: number;
}

export interface SetAside {
  /** Where the damaged file is now. */
  readonly file: string;
  readonly reason: string;
}

/**
 * Opens the log for a daemon, which must come up while nobody watches: a damaged file is set aside and an empty log takes
 * its place, with seqs behind those that were given. It is not gone on with: a history with holes in it would have things done twice. A file of a newer program is
 * refused and left as it is; whatever else is in the way (no room, no right to write) is refused as well, for it passes.
 */
export async function beginSqliteLog({
  onSetAside,
  alwaysCheckedBytes = 64 * 1024 * 1024,
  ...options
}: Beginning): Promise<Log> {
  const { file } = options;
  removeHalfRestored(file);
  const isNew = !existsSync(file);
  try {
    if (isNew) return await open({ ...options, given: givenAt(file) });
    await requireSound(file, alwaysCheckedBytes);
    return await open(options);
  } catch (error) {
    if (isNew && sizeOf(file) === 0) rmSync(file, { force: true });
    if (!(error instanceof CorralError) || error.code !== "log.damaged") throw error;
    onSetAside({ file: await setAside(file), reason: error.message });
    rmSync(suspicion(file), { force: true });
    return open({ ...options, given: givenAt(file) });
  }
}

/** Whether the running log has met damage in this file. */
export function isSuspect(file: string): boolean {
  return existsSync(suspicion(file));
}

function open(options: SqliteLogOptions): Promise<Log> {
  return openSqliteLog({
    ...options,
    onDamage(error) {
      options.onDamage?.(error);
      suspect(options.file, error);
    },
  });
}

/**
 * A large file is looked at only when there is a reason: damage was met while it was last open, or whoever had it open did
 * not close it.
 */
async function requireSound(file: string, alwaysChecked: number): Promise<void> {
  requireKnownSchema(file);
  const size = sizeOf(file);
  if (size === 0) throw damaged(`The log at ${file} cannot be opened`, new Error("the file is empty"));
  if (size > alwaysChecked && !isSuspect(file) && sizeOf(`${file}-wal`) === 0) return;
  const [fault] = await integrityOf(file);
  if (fault !== undefined) throw damaged(`The log at ${file} is not whole`, new Error(oneLine(fault)));
  rmSync(suspicion(file), { force: true });
}

/** The next start looks at all of the file. A disk that takes no note is told of by whoever writes to it. */
function suspect(file: string, error: Error): void {
  try {
    writeFileSync(suspicion(file), `${error.message}\n`, { mode: 0o600 });
  } catch {
    return;
  }
}

function suspicion(file: string): string {
  return `${file}.suspect`;
}

function oneLine(fault: string): string {
  return fault.replaceAll(/\s*\n\s*/g, ": ").slice(0, 300);
}
