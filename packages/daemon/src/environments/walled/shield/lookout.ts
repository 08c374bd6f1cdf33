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
 * Looks whether the shield on the user's own folder still lies over all that it has to, and ends the environment where it does not.
 *
 * 1. A mount is on what is there and not on its name. Whoever puts something else there on the host, as an editor does that saves by renaming, takes the
 *    mount away; where none is, something may come to be. Both are a breach.
 * 2. The kernel is asked what is mounted where in there, and not what lies in the folder: its answer is not the agent's to choose, and another file with
 *    the number of the one before is another file.
 * 3. A breach is not mended from inside: what could be written for a moment may be held open by then, and for as long as the environment lives.
 * 4. What cannot be found out now is found out at the next look. What was found stays, and is on file before the environment is ended.
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
 * The lookouts of a process. Each looks for as long as its environment lives, also when that was let go: what an agent left in the background goes on,
 * and nobody may come back for long.
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
