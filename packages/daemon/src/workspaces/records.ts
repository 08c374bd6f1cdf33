import { CorralError, type EventData, type NewEvent, type SessionId, type WorkspaceMerge } from "@corral/protocol";
import { type By, historyOf, type Log } from "../log/index.ts";
import { type OnRecord, onRecord } from "./projection.ts";

/** What the log says of sessions and their workspaces. */
export class Records {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Throws `not-found`. */
  async known(session: SessionId): Promise<OnRecord> {
    const row = await this.#log.row("workspaces", session);
    if (row === undefined) throw new CorralError("not-found", `There is no session ${session}.`);
    return onRecord(row);
  }

  /** The workspace it has, or had last. */
  async everPrepared(session: SessionId): Promise<Prepared | undefined> {
    const { prepared } = await this.known(session);
    if (prepared !== undefined) return prepared;
    const found = (await historyOf(this.#log, session)).findLast(({ type }) => type === "workspace.prepared");
    return found?.type === "workspace.prepared" ? found.data : undefined;
  }

  /** What was merged, or begun to be, the oldest first. */
  async merges(session: SessionId): Promise<Merges> {
    const events = await historyOf(this.#log, session);
    const finished = new Set(events.flatMap(({ type, data }) => (type === "workspace.merged" ? [data.to] : [])));
    return {
      begun: events.flatMap(({ type, data }) => (type === "workspace.merge-begun" ? [data] : [])),
      isFinished: ({ to }) => finished.has(to),
    };
  }

  async repoPath({ worktree, project }: Pick<OnRecord, "worktree" | "project">): Promise<string> {
    return worktree ?? ((await this.#log.row("projects", project))?.["path"] as string | undefined) ?? "";
  }

  async isBusy(session: SessionId): Promise<boolean> {
    return (await this.#log.row("sessions", session))?.["open"] === 1;
  }

  /** Throws `session.busy`. */
  async mustRest(session: SessionId): Promise<void> {
    if (await this.isBusy(session))
      throw new CorralError("session.busy", `${session} is in the middle of an activity.`, {
        retry: "later",
        hint: "Let it finish, or interrupt it first.",
      });
  }

  async append(session: SessionId, by: By, ...events: readonly NewEvent[]): Promise<void> {
    // Nothing is said of a session that is gone by now.
    const guards = [{ table: "workspaces", key: session, is: {} }];
    await this.#log.append({ stream: session, ...by, events, guards });
  }
}

export interface Merges {
  readonly begun: readonly WorkspaceMerge[];
  readonly isFinished: (merge: WorkspaceMerge) => boolean;
}

export type Prepared = EventData<"workspace.prepared">;
