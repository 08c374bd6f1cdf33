import { type EnvironmentLimits, environmentLimits, type ProcessIdentity, processIdentity } from "@corral/protocol";
import { randomUUID } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultLimits } from "../plan.ts";
import { endProcess, identify, isAlive } from "../process-identity.ts";
import { removeFolder } from "../remove-folder.ts";

/** What an ended jail's folder is called until it is removed. */
export const removedPrefix = ".removed-";

/** How long the end of a jail waits for its files to go, before it leaves them to a sweep. */
const removalMs = 5_000;

/** A folder without an opener on file is nobody's after this time: the file is written right after the folder is made. */
const namelessMs = 60_000;

/**
 * The folder of one jail. An agent can write in the spool and nowhere else in it.
 *
 * 1. The opener is on file before anything is started, the supervisor before anything begins in the jail.
 * 2. Of a jail that is not on record nothing but this folder is known; its processes are signalled
 *    by the identity on file and by nothing else.
 */
export class JailFolder {
  readonly path: string;
  readonly spool: string;

  constructor(path: string) {
    this.path = path;
    this.spool = join(path, "spool");
  }

  make(owner: Owner | undefined): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    this.#write("opener", identify(process.pid));
    makeOwnFolder(this.spool, owner);
  }

  recordSupervisor(supervisor: ProcessIdentity): void {
    this.#write("supervisor", supervisor);
  }

  recordLimits(limits: EnvironmentLimits): void {
    writeFileSync(join(this.path, "limits.json"), JSON.stringify(limits), { mode: 0o600 });
  }

  limits(): EnvironmentLimits {
    try {
      return environmentLimits.parse(JSON.parse(readFileSync(join(this.path, "limits.json"), "utf8")));
    } catch {
      return defaultLimits;
    }
  }

  /** Whether a living process opened it, or is about to. */
  hasOpener(): boolean {
    const opener = this.#read("opener");
    if (opener !== undefined) return isAlive(opener);
    const made = statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.abs(Date.now() - made) < namelessMs;
  }

  /** Ends all that runs in the jail, if anything does. */
  async endProcesses(): Promise<void> {
    const supervisor = this.#read("supervisor");
    if (supervisor !== undefined) await endProcess(supervisor);
  }

  /** Out of the way at once; what cannot be removed soon is left to a sweep. */
  async remove(): Promise<void> {
    const removed = join(dirname(this.path), `${removedPrefix}${randomUUID()}`);
    try {
      renameSync(this.path, removed);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    await removeFolder(removed, { signal: AbortSignal.timeout(removalMs) }).catch(() => undefined);
  }

  #write(name: "opener" | "supervisor", identity: ProcessIdentity | undefined): void {
    writeFileSync(this.#file(name), JSON.stringify(identity ?? null), { mode: 0o600 });
  }

  #read(name: "opener" | "supervisor"): ProcessIdentity | undefined {
    try {
      return processIdentity.parse(JSON.parse(readFileSync(this.#file(name), "utf8")));
    } catch {
      return undefined;
    }
  }

  #file(name: "opener" | "supervisor"): string {
    return join(this.path, `${name}.json`);
  }
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export function makeOwnFolder(path: string, owner: Owner | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}
