import {
  CorralError,
  type EnvironmentId,
  type EnvironmentLimits,
  environmentLimits,
  type EnvironmentState,
  environmentState,
} from "@corral/protocol";
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Which environment is the shell of a session, on file, so that any process finds it.
 *
 * 1. A session's records are numbered and the highest counts. One is made by linking a whole file to its name, which
 *    succeeds for one process alone: whoever comes second finds the other's.
 * 2. A record is followed by the next only when its environment was found gone.
 */
export class ShellRecords {
  readonly folder: string;
  readonly session: string;
  /** The session's own folder, with its records. */
  readonly path: string;

  constructor(folder: string, session: string) {
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(session))
      throw new CorralError("request.invalid", `${JSON.stringify(session)} is no name for a session.`, {
        hint: "Letters, digits, and . _ - after the first of them; at most 100.",
      });
    this.folder = folder;
    this.session = session;
    this.path = join(folder, "sessions", session);
  }

  newest(): ShellRecord | undefined {
    const [number] = numbersIn(this.path).toSorted((a, b) => b - a);
    const kept = number === undefined ? undefined : readRecord(join(this.path, `${number}.json`));
    return number === undefined || kept === undefined ? undefined : { number, ...kept };
  }

  /** False: another process was first. */
  add(state: EnvironmentState, after: ShellRecord | undefined, limits: EnvironmentLimits): boolean {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const number = (after?.number ?? 0) + 1;
    const whole = join(this.path, `.${state.id}`);
    writeFileSync(whole, JSON.stringify({ ...state, limits }), { mode: 0o600 });
    try {
      linkSync(whole, join(this.path, `${number}.json`));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    } finally {
      rmSync(whole, { force: true });
    }
    if (after !== undefined) rmSync(join(this.path, `${after.number}.json`), { force: true });
    return true;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** The environments on record; those that ended long ago are struck off. */
  static all(folder: string): ReadonlySet<EnvironmentId> {
    const sessions = join(folder, "sessions");
    const files = namesIn(sessions).flatMap((name) =>
      numbersIn(join(sessions, name)).map((number) => join(sessions, name, `${number}.json`)),
    );
    return new Set(files.flatMap((file) => (isPast(file) ? [] : (readState(file)?.id ?? []))));
  }
}

export interface ShellRecord {
  readonly number: number;
  readonly state: EnvironmentState;
  /** What it was opened with; older records do not tell. */
  readonly limits?: EnvironmentLimits | undefined;
}

/** Nobody comes back for what a shell wrote down so long ago. */
const pastMs = 7 * 24 * 3_600_000;

function isPast(file: string): boolean {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const keeper = readState(file)?.supervisor.pid;
  const mayRun = keeper !== undefined && statSync(`/proc/${keeper}`, { throwIfNoEntry: false }) !== undefined;
  return Date.now() - made > pastMs && !mayRun;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function numbersIn(folder: string): readonly number[] {
  return namesIn(folder).flatMap((name) => {
    const match = /^([1-9]\d*)\.json$/.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
}

function readState(file: string): EnvironmentState | undefined {
  return readRecord(file)?.state;
}

function readRecord(file: string): Omit<ShellRecord, "number"> | undefined {
  try {
    const kept = JSON.parse(readFileSync(file, "utf8")) as { readonly limits?: unknown };
    return { state: environmentState.parse(kept), limits: environmentLimits.safeParse(kept.limits).data };
  } catch {
    return undefined;
  }
}
