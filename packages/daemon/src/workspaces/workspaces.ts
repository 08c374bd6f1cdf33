import {
  type BringBackAnswer,
  CorralError,
  type DiscardAnswer,
  event,
  type EventData,
  type MergeAnswer,
  type MergeWorkspace,
  type SessionId,
  type ShellId,
  type StoredEvent,
  type WorkspaceDiff,
} from "@corral/protocol";
import { join } from "node:path";
import { ownerOf } from "../environments/index.ts";
import { fault } from "../faults/index.ts";
import { endLeftJails } from "../git/index.ts";
import type { By, Log } from "../log/index.ts";
import { bringBack, type BringingBack, incomingOf } from "./bring-back.ts";
import { changesIn } from "./diff.ts";
import { openDiscards } from "./discards.ts";
import { orSay } from "./failing.ts";
import { partsOf, removeWorkspace, workspaceFolder } from "./folder.ts";
import { Lines } from "./lines.ts";
import { carryOut, planMerge } from "./merge.ts";
import { type OnRecord, onRecord } from "./projection.ts";
import { removeHalfRecorded } from "./prepare.ts";
import { removeLeftQuarantines } from "./quarantine.ts";
import { Records } from "./records.ts";
import { inspect } from "./source.ts";
import type { Spares } from "./spare.ts";
import type { Skipped } from "./staging.ts";
import { emptyTrash, setOut } from "./trash.ts";
import { repoOf } from "./user-repo.ts";

/**
 * What becomes of the work in workspaces.
 *
 * 1. After each activity it is brought into the user's repo; what a stopped daemon did not get to is brought at the next start.
 * 2. For one session one thing is done at a time, in the order asked; into one folder of the user's one merge at a time.
 * 3. What changes the user's folder is on record before it begins, and finished or given up at the next start.
 * 4. Nothing is removed for its age that was not brought back, and what is discarded is moved, not removed.
 */
export interface Workspaces {
  /** Puts right what a killed daemon left in the middle; before any session goes on. Never rejects. */
  mend(): Promise<void>;
  /** Takes up what waits to be brought back. Never rejects. */
  begin(): Promise<void>;
  /** What the session changed, what is not committed yet included. Throws `workspace.none`, and `workspace.refused` for objects that git does not accept. */
  diff(session: SessionId): Promise<WorkspaceDiff>;
  /** Brings what there is now; `edited`: a person changed it. */
  bring(session: SessionId, by: By, how?: { readonly edited?: boolean }): Promise<BringBackAnswer>;
  /** Said again, it is done once. Throws `workspace.conflict` and `workspace.overlap`, with nothing changed; `session.busy` in an activity. */
  merge(session: SessionId, wish: MergeWorkspace, by: By): Promise<MergeAnswer>;
  /** Ends its processes, moves it aside, and takes its branch out of the user's repo. What cannot be brought back is moved aside, too. */
  discard(session: SessionId, by: By): Promise<DiscardAnswer>;
  /** Undoes the last discard. Throws `workspace.none`, and `workspace.busy` when the session has another by now. */
  restore(session: SessionId, by: By): Promise<DiscardAnswer>;
  /** Takes everything of a session that is no more, after what is still done with it. Can be repeated. */
  remove(session: SessionId): Promise<void>;
  /** Removes what was kept long enough. Never rejects. */
  cleanUp(): Promise<void>;
  /** Does something else with the workspace of a session or a shell, after what was asked before. */
  inTurn<T>(occupant: SessionId | ShellId, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface WorkspacesOptions {
  readonly log: Log;
  readonly home: string;
  readonly spares: Spares;
  /** Ends what runs in a session's workspace. */
  readonly endEnvironments: (session: SessionId) => Promise<void>;
  /** Called before a workspace's folder is removed for its age: the place to keep what is in it elsewhere. False: it stays. */
  readonly beforeRemoval?: (session: SessionId, folder: string) => Promise<boolean>;
  readonly terms: () => { readonly idleDays: number | null; readonly discardedDays: number };
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
}

export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  const { log, home, spares, onDefect, terms, now = Date.now } = options;
  const enough = new AbortController();
  const records = new Records(log);
  const lines = new Lines();
  const inLine = <T>(name: string, work: () => Promise<T>) => lines.run(name, work);
  const discards = openDiscards({ home, records, workOn, now });
  /** Sessions in an activity that has made no call that could write. One that an earlier daemon began may have. */
  const idle = new Set<SessionId>();
  /** Sessions whose copy was made just now, for which another is to be kept ready. */
  const supplied = new Set<SessionId>();
  const unlisten = log.onCommit((events) => events.forEach(notice));

  return {
    async mend() {
      try {
        await endLeftJails(home);
        await removeLeftQuarantines(join(home, "workspaces"));
        await removeHalfRecorded(join(home, "workspaces"));
        for (const row of await log.rows("workspaces")) {
          const session = row["key"] as SessionId;
          if (row["merging"] !== null) void inLine(session, () => finishMerge(session));
          if (row["discarded"] === null || row["prepared"] !== null) continue;
          await discards
            .finish(session)
            .catch((error: unknown) => onDefect(`what was discarded of ${session} is left in the middle`, error));
        }
      } catch (error) {
        onDefect("workspaces that were discarded or merged are left in the middle", error);
      }
    },

    async begin() {
      try {
        for (const row of await log.rows("workspaces", { where: { pending: 1 } }))
          bringSoon(row["key"] as SessionId, { actor: "corral" });
      } catch (error) {
        onDefect("workspaces that wait to be brought back stay so", error);
      }
    },

    diff: (session) =>
      inLine(session, async () => {
        const record = await records.known(session);
        const prepared = preparedOf(record, session);
        const { tip, branch } = record;
        const { path, base } = prepared;
        const work = await workOn(session, record, prepared);
        const { skipped, ...changes } = await orSay("The changes could not be told", enough.signal, () =>
          changesIn(work),
        );
        return {
          path,
          base,
          ...(branch === undefined || tip === undefined ? {} : { branch, commit: tip }),
          ...(skipped.length === 0 ? {} : { skipped: told(skipped) }),
          ...changes,
        };
      }),

    bring: (session, by, how) => inLine(session, async () => bringNow(session, await records.known(session), by, how)),

    merge: (session, wish, by) =>
      inLine(session, async () => {
        await records.mustRest(session);
        const record = await records.known(session);
        const { variables } = preparedOf(record, session);
        if (record.kind === "in-place") throw inPlaceAlready();
        await bringNow(session, record, by);
        const { tip, branch } = await records.known(session);
        if (tip === undefined || branch === undefined) return { kind: "nothing-to-merge" };
        const source = await inspect(await records.repoPath(record));
        // What is planned holds until it is done: nobody else of Corral's merges into that folder meanwhile.
        return inLine(source.worktree, async () => {
          const user = await repoOf(await inspect(source.worktree));
          const incoming = incomingOf({ depot: depotOf(session) });
          const { begun: earlier, isFinished } = await records.merges(session);
          const plan = await orSay("The branch could not be merged", enough.signal, () =>
            planMerge(user, { branch, tip, how: wish.how, incoming, earlier, variables }),
          );
          if (plan.kind === "nothing-to-merge") return plan;
          const { merge } = plan;
          if (plan.kind === "done" && (!plan.isHead || isFinished(merge)))
            return { kind: "merged", ...merge, already: true };
          fault("merge.planned");
          if (plan.kind === "plan") await records.append(session, by, event("workspace.merge-begun", merge));
          fault("merge.begun");
          await carryOutOrGiveUp(session, merge, by);
          return { kind: "merged", ...merge };
        });
      }),

    discard: (session, by) =>
      inLine(session, async () => {
        await records.mustRest(session);
        const record = await records.known(session);
        preparedOf(record, session);
        if (record.kind === "in-place") throw inPlaceAlready();
        await options.endEnvironments(session);
        await bringOrTell(session, record, by);
        return discards.discard(session, by);
      }),

    restore: (session, by) =>
      inLine(session, async () => {
        await records.mustRest(session);
        return orSay("The work could not be had back", enough.signal, () => discards.undo(session, by));
      }),

    remove: (session) => inLine(session, () => removeWorkspace(home, session)),

    async cleanUp() {
      const { signal } = enough;
      try {
        await clearIdle();
        await discards.expire(terms().discardedDays);
        for (const folder of ["workspaces", "discarded"])
          await emptyTrash(join(home, folder), { signal, onFailure: onDefect });
      } catch (error) {
        if (!signal.aborted) onDefect("old workspaces stay", error);
      }
    },

    inTurn: (occupant, work) => inLine(occupant, work),

    async close() {
      unlisten();
      enough.abort();
      await lines.settled();
    },
  };

  function notice({ type, stream, data, traceId }: StoredEvent): void {
    const session = stream as SessionId;
    if (type === "activity.opened") idle.add(session);
    else if (type === "call.started" && data.reads !== true) idle.delete(session);
    else if (type === "activity.settled" && !idle.delete(session))
      bringSoon(session, { actor: "corral", ...(traceId !== undefined && { traceId }) });
    else if (type === "workspace.prepared" && data.way !== "in place") supplied.add(session);
    // Not before: whoever waits for it has the processor.
    else if (type === "environment.opened" && supplied.delete(session)) void refill(session);
  }

  async function refill(session: SessionId): Promise<void> {
    try {
      await spares.fill(await records.repoPath(await records.known(session)));
    } catch (error) {
      onDefect(`no spare copy is made after ${session}`, error);
    }
  }

  /** What comes of an activity is of its trace. */
  function bringSoon(session: SessionId, by: By): void {
    void inLine(session, async () => {
      if (enough.signal.aborted) return;
      const record = await records.known(session);
      if (record.prepared === undefined) return;
      const brought = await bringOrTell(session, record, by);
      if (brought?.kind === "nothing-new") await records.append(session, by, event("workspace.unchanged", {}));
    }).catch((error: unknown) => {
      if (!enough.signal.aborted && !isOfNoSession(error))
        onDefect(`the work of ${session} was not brought back`, error);
    });
  }

  /** Undefined: it could not be brought, which is on record with the reason. */
  async function bringOrTell(session: SessionId, record: OnRecord, by: By): Promise<BringBackAnswer | undefined> {
    try {
      return await bringNow(session, record, by);
    } catch (error) {
      if (enough.signal.aborted || isOfNoSession(error)) throw error;
      const message = error instanceof Error ? error.message : String(error);
      await records.append(session, by, event("workspace.bring-back-failed", { message }));
      return undefined;
    }
  }

  function depotOf(session: SessionId): string {
    return partsOf(home, session).depot;
  }

  async function bringNow(
    session: SessionId,
    record: OnRecord,
    by: By,
    { edited = false }: { readonly edited?: boolean } = {},
  ): Promise<BringBackAnswer> {
    const prepared = preparedOf(record, session);
    const brought = await bringBack(await workOn(session, record, prepared, edited));
    if (brought.kind === "nothing-new")
      return { kind: "nothing-new", ...(brought.skipped && { skipped: told(brought.skipped) }) };
    const { kind: _, before, skipped, ...rest } = brought;
    const data: EventData<"workspace.brought-back"> = {
      ...rest,
      ...(before === undefined ? {} : { before }),
      skipped: told(skipped),
      ...(edited ? { edited: true as const } : {}),
    };
    await records.append(session, by, event("workspace.brought-back", data));
    return { kind: "brought", ...data };
  }

  async function workOn(
    session: SessionId,
    record: OnRecord,
    { path, base, head = base, readable, variables }: EventData<"workspace.prepared">,
    edited = false,
  ): Promise<BringingBack> {
    return {
      repo: await records.repoPath(record),
      workspace: path,
      depot: depotOf(session),
      readable,
      // The user's own folder is read as the user.
      owner: record.kind === "in-place" ? undefined : ownerOf(path),
      head,
      base,
      branch: `corral/${session}`,
      before: record.tip,
      variables,
      message: leftoversMessage(session, edited),
      signal: enough.signal,
    };
  }

  /** In the line of the folder that is merged into. */
  async function carryOutOrGiveUp(session: SessionId, merge: EventData<"workspace.merged">, by: By): Promise<void> {
    try {
      const user = await repoOf(await inspect(merge.worktree));
      await carryOut(user, merge);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await records.append(session, by, event("workspace.merge-given-up", { reason }));
      throw error instanceof CorralError ? error : new CorralError("workspace.failed", reason, { cause: error });
    }
    fault("merge.done");
    await records.append(session, by, event("workspace.merged", merge));
  }

  async function finishMerge(session: SessionId): Promise<void> {
    const { merging } = await records.known(session);
    if (merging === undefined) return;
    await inLine(merging.worktree, () => carryOutOrGiveUp(session, merging, { actor: "corral" })).catch(
      (error: unknown) => onDefect(`the merge of ${session} was given up`, error),
    );
  }

  async function clearIdle(): Promise<void> {
    const { idleDays } = terms();
    if (idleDays === null) return;
    for (const row of await log.rows("workspaces")) {
      const session = row["key"] as SessionId;
      const { rested } = onRecord(row);
      if (rested === undefined || now() - Date.parse(rested) < idleDays * dayMs) continue;
      if (enough.signal.aborted) return;
      await inLine(session, () => clear(session)).catch((error: unknown) =>
        onDefect(`the workspace of ${session} stays`, error),
      );
    }
  }

  async function clear(session: SessionId): Promise<void> {
    const before = await records.known(session);
    if (before.prepared === undefined || before.kind === "in-place" || (await records.isBusy(session))) return;
    await options.endEnvironments(session);
    await bringNow(session, before, { actor: "corral" });
    const { tip, prepared } = await records.known(session);
    if ((await options.beforeRemoval?.(session, workspaceFolder(home, session))) === false) return;
    const commit = tip ?? prepared?.base ?? "";
    await records.append(session, { actor: "corral" }, event("workspace.cleared", { commit }));
    for (const part of Object.values(partsOf(home, session))) await setOut(part);
  }
}

const dayMs = 86_400_000;

function preparedOf({ prepared }: OnRecord, session: SessionId): EventData<"workspace.prepared"> {
  if (prepared !== undefined) return prepared;
  throw new CorralError("workspace.none", `${session} has no workspace.`, {
    hint: "It gets one with its first prompt; one that was discarded comes back with `corral discard --undo`",
  });
}

/** Of very many the first. */
function told(skipped: readonly Skipped[]): Skipped[] {
  return skipped.slice(0, 100).map((each) => ({ ...each }));
}

function leftoversMessage(session: SessionId, edited: boolean): string {
  const what = edited ? "Changes made by hand" : "Work that was not committed";
  return `${what} in ${session}\n\nCommitted by Corral on behalf of the user, unsigned.\n`;
}

function inPlaceAlready(): CorralError {
  return new CorralError("workspace.unsuitable", "This session works in your own folder: what it did is there.", {
    hint: "Use git there, as with work of your own",
  });
}

/** It was removed meanwhile. */
function isOfNoSession(error: unknown): boolean {
  return error instanceof CorralError && (error.code === "not-found" || error.code === "append.conflict");
}
