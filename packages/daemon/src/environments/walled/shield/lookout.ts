import type { ProcessIdentity } from "@corral/protocol";
import { closeSync } from "node:fs";
import { relative } from "node:path";
import { workspaceInside } from "../../keeper/index.ts";
import { isAlive, isEnding, signal } from "../../system/process-identity.ts";
import { openEntry } from "../entries.ts";
import { mountPoints } from "./mounts.ts";
import { isStubFolder } from "./stubs.ts";

/** What a shield lies over, as it was when the environment was opened. */
export interface Shielded {
  /** Inside paths that something is mounted on. */
  readonly mounted: readonly string[];
  /** Inside paths that are protected and have no mount: nothing was there, or nothing that can be mounted on. */
  readonly left: readonly string[];
}

/**
 * Checks that the shield still covers everything it must in the user's own folder, and ends the environment if it does not.
 *
 * 1. Mounts attach to inodes, not paths. If a file is replaced on the host, as by an editor that saves by renaming, its mount is gone. Where
 *    there is no mount, something may be created. Both are a breach.
 * 2. The kernel's list of mounts is read, not the folder. An agent cannot change that list. A new file with the inode number of an old one
 *    still counts as another file.
 * 3. A breach is not repaired from inside: a process may have opened the file while it was writable, and can write to it as long as the
 *    environment lives.
 * 4. What cannot be determined now is checked again at the next look. A breach that was found stays one, and is written down before the
 *    environment is ended.
 */
export class Lookout {
  readonly #supervisor: ProcessIdentity;
  readonly #shielded: Shielded;
  readonly #record: (breach: string) => void;
  #breach: string | undefined;

  constructor({ supervisor, shielded, record }: LookoutOptions) {
    this.#supervisor = supervisor;
    this.#shielded = shielded;
    this.#record = record;
  }

  /** Nothing is left that could be ended. */
  get isOver(): boolean {
    return this.#breach !== undefined || !isAlive(this.#supervisor);
  }

  /** Why the environment was ended, if it was. */
  get breach(): string | undefined {
    return this.#breach;
  }

  /** `replaced`: whether a mount has gone. `all`: also whether something has come to be where none is, for when nobody is in the middle of making it. */
  look(what: "replaced" | "all"): string | undefined {
    if (this.#breach !== undefined) return this.#breach;
    const found = this.#replaced() ?? (what === "all" ? this.#new() : undefined);
    // Its mounts go before it does.
    if (found === undefined || !isAlive(this.#supervisor) || isEnding(this.#supervisor)) return undefined;
    this.#breach = found;
    whatCanBeDone(() => this.#record(found));
    signal(this.#supervisor, "SIGKILL");
    return found;
  }

  #replaced(): string | undefined {
    const mounts = whatCanBeDone(() => mountPoints(this.#supervisor.pid));
    const gone = mounts === undefined ? undefined : this.#shielded.mounted.find((path) => !mounts.has(path));
    return gone === undefined
      ? undefined
      : `${named(gone)} was replaced or taken away outside and could be changed since: look at it`;
  }

  #new(): string | undefined {
    const root = `/proc/${this.#supervisor.pid}/root`;
    const found = this.#shielded.left.find((path) => whatCanBeDone(() => canBeMountedOn(`${root}${path}`)));
    return found === undefined ? undefined : `${named(found)} was made meanwhile and is to be protected`;
  }
}

export interface LookoutOptions {
  readonly supervisor: ProcessIdentity;
  readonly shielded: Shielded;
  readonly record: (breach: string) => void;
}

/**
 * All lookouts of this process. Each one looks for as long as its environment lives, also after it was detached: background processes of the
 * agent go on, and nobody may reopen it for a long time.
 */
export class Lookouts {
  readonly #known = new Map<string, Lookout>();
  #timer: NodeJS.Timeout | undefined;

  /** One for each environment, however often it is held. */
  over(name: string, options: LookoutOptions): Lookout {
    const lookout = this.#known.get(name) ?? new Lookout(options);
    this.#known.set(name, lookout);
    this.#timer ??= setInterval(() => this.#look(), everyMs).unref();
    return lookout;
  }

  #look(): void {
    for (const [name, lookout] of this.#known) {
      lookout.look("replaced");
      if (lookout.isOver) this.#known.delete(name);
    }
    if (this.#known.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const everyMs = 1_000;

/** What another jail is open on counts as missing, as it does for a shield. */
function canBeMountedOn(path: string): boolean {
  const entry = openEntry(path);
  if (entry === undefined) return false;
  try {
    return entry.kind === "file" || (entry.kind === "folder" && !isStubFolder(entry.fd));
  } finally {
    closeSync(entry.fd);
  }
}

function whatCanBeDone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function named(inside: string): string {
  return relative(workspaceInside, inside);
}
