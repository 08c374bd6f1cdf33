import { CorralError, type NewEvent, type ShellId } from "@corral/protocol";
import type { By, Log } from "../../log/index.ts";
import type { OnRecord } from "../projection.ts";
import { Records } from "../records.ts";
import { isShell, type Occupant } from "./occupant.ts";
import { type FilesOfCopy, shellCopyIn } from "./projection.ts";

/** A workspace as it is on record. */
export interface Occupied extends Pick<OnRecord, "project" | "worktree" | "kind"> {
  readonly prepared: FilesOfCopy | undefined;
  /** Of a shell that was closed and whose files stay: nobody works there any more. */
  readonly isOver: boolean;
}

/** What the log says of occupants and their workspaces. */
export class Occupants {
  readonly #log: Log;
  readonly #sessions: Records;

  constructor(log: Log) {
    this.#log = log;
    this.#sessions = new Records(log);
  }

  /** Throws `not-found`. */
  async known(occupant: Occupant): Promise<Occupied> {
    if (!isShell(occupant)) return { ...(await this.#sessions.known(occupant)), isOver: false };
    const copy = shellCopyIn(await this.#log.row("shell_copies", occupant));
    if (copy === undefined) throw noCopy(occupant);
    return { ...copy, worktree: undefined, kind: "copy" };
  }

  /** The files it has, or had last. */
  async everPrepared(occupant: Occupant): Promise<FilesOfCopy | undefined> {
    return isShell(occupant) ? (await this.known(occupant)).prepared : this.#sessions.everPrepared(occupant);
  }

  repoPath({ worktree, project }: Pick<Occupied, "worktree" | "project">): Promise<string> {
    return this.#sessions.repoPath({ worktree, project });
  }

  /** Throws `session.busy`. Of a shell its own slice knows. */
  async mustRest(occupant: Occupant): Promise<void> {
    if (!isShell(occupant)) await this.#sessions.mustRest(occupant);
  }

  /** Nothing is said of an occupant that is gone by now. */
  async append(occupant: Occupant, by: By, ...events: readonly NewEvent[]): Promise<void> {
    if (!isShell(occupant)) return this.#sessions.append(occupant, by, ...events);
    const guards = [{ table: "shell_copies", key: occupant, is: {} }];
    await this.#log.append({ stream: occupant, ...by, events, guards });
  }
}

function noCopy(shell: ShellId): CorralError {
  return new CorralError("not-found", `There are no snapshots of ${shell}.`, {
    hint: "They are taken of shells that work in a copy and may write, until such a shell is closed with nothing to keep",
  });
}
