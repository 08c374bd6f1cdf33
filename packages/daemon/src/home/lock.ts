import { DatabaseSync } from "node:sqlite";
import { CorralError, type DaemonInfo } from "@corral/protocol";
import { readDaemonInfo } from "./info.ts";
import { type Home, unusableHome } from "./home.ts";

/**
 * One daemon for each home. The lock is an exclusive transaction on a small SQLite file: the kernel
 * drops it when the process dies in whatever way, so there is no stale lock to reclaim.
 */
export function lockHome(home: Home): { release(): void } {
  const database = openLock(home);
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    throw isBusy(cause) ? alreadyRunning(home, readDaemonInfo(home), cause) : unusableHome(home.folder, cause);
  }
  return { release: () => database.close() };
}

function openLock(home: Home): DatabaseSync {
  try {
    return new DatabaseSync(home.lock);
  } catch (cause) {
    throw unusableHome(home.folder, cause);
  }
}

/** SQLITE_BUSY and its kinds. Anything else does not tell of another daemon. */
function isBusy(cause: unknown): boolean {
  const { errcode } = cause as { errcode?: unknown };
  return typeof errcode === "number" && (errcode & 0xff) === 5;
}

function alreadyRunning(home: Home, other: DaemonInfo | undefined, cause: unknown): CorralError {
  const who = other === undefined ? "Another daemon" : `A daemon (pid ${other.pid}, ${other.url})`;
  return new CorralError("daemon.running", `${who} already serves ${home.folder}.`, {
    cause,
    hint: "Use that one, stop it with `corral stop`, or set CORRAL_HOME to another folder.",
  });
}
