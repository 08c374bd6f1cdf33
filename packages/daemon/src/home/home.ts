import { accessSync, chmodSync, constants, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { CorralError } from "@corral/protocol";

/** The folder that holds all of Corral's state, and what is where in it. */
export interface Home {
  readonly folder: string;
  readonly database: string;
  readonly lock: string;
  readonly info: string;
  readonly token: string;
}

/** Makes the folder if need be; nobody but the owner may look into it. */
export function openHome(folder: string): Home {
  try {
    makeFolder(folder);
    chmodSync(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unusableHome(folder, cause);
  }
  return {
    folder,
    database: join(folder, "corral.db"),
    lock: join(folder, "lock"),
    info: join(folder, "daemon.json"),
    token: join(folder, "token"),
  };
}

/** One by one: Node's own way to make parents too never ends where a file system says of every new folder that it is not there. */
function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    makeOne(path);
  }
}

/** Whoever else makes it at the same moment is welcome. */
function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** What the system says when the home cannot be made or written to, with what to do about it. */
export function unusableHome(folder: string, cause: unknown): CorralError {
  return new CorralError("home.unusable", `${folder} cannot hold Corral's state: ${(cause as Error).message}`, {
    cause,
    hint: "See that the folder is yours and its disk has room, or set CORRAL_HOME to another folder",
  });
}
