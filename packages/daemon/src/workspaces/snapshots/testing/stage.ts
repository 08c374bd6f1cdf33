import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type CallId, event, type EventData, newId, type ProjectId, type SessionId } from "@corral/protocol";
import { historyOf, type Log } from "../../../log/index.ts";
import { openSqliteLog } from "../../../log/sqlite/index.ts";
import { openFolderStore } from "../../../storage/folder/index.ts";
import { makeRepository } from "../../../testing/repository.ts";
import type { WorkspaceWish } from "../../prepare.ts";
import { workspaceProjections } from "../../projection.ts";
import { beginSession, by, registerProject, rowsOfOthers, writeFiles } from "../../testing/on-record.ts";
import type { Occupant } from "../occupant.ts";
import { snapshotProjections } from "../projection.ts";
import { openSnapshots, type Snapshots, type SnapshotsOptions, type SnapshotTerms } from "../snapshots.ts";

export { by };

/** Snapshots on a real log, with workspaces that nobody runs anything in but the test. */
export interface SnapshotStage extends AsyncDisposable {
  readonly home: string;
  readonly repo: string;
  readonly project: ProjectId;
  readonly log: Log;
  readonly snapshots: Snapshots;
  /** In which workspaces something was ended. */
  readonly ended: readonly Occupant[];
  /** What may be changed between two deeds. */
  terms: SnapshotTerms;
  now: number;
  session(how?: "in place" | Partial<WorkspaceWish>, id?: SessionId): Promise<StageSession>;
  /** Stops and opens anew on the same files. */
  reopen(): Promise<void>;
}

export interface StageSession {
  readonly id: SessionId;
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): void;
  /** A call that could write: starts, does something, and ends. */
  call(work: () => void, more?: { reads?: true }): Promise<CallId>;
  append(...events: ReturnType<typeof event>[]): Promise<void>;
  taken(): Promise<EventData<"snapshot.taken">[]>;
  types(): Promise<string[]>;
}

export async function openStage({
  in: place = "/var/tmp",
  repo: given,
  ...changes
}: Partial<SnapshotsOptions> & { readonly in?: string; readonly repo?: string } = {}): Promise<SnapshotStage> {
  // Below /tmp nothing can be borrowed from: jails have a /tmp of their own.
  const home = mkdtempSync(join(place, "corral-snapshots-"));
  const repo =
    given ?? makeRepository(join(home, "repo"), { "file.txt": "one\n", "other.txt": "other\n", "in/a.txt": "a\n" });
  const defects: string[] = [];
  const ended: Occupant[] = [];
  let log = await openLog();
  const project = await registerProject(log, repo);
  const stage = {
    home,
    repo,
    project,
    ended,
    log,
    terms: { days: null, most: 100, ignored: [] as string[], largestFile: 2 ** 20 } as SnapshotTerms,
    now: Date.now(),
    snapshots: undefined as unknown as Snapshots,
    async session(how: "in place" | Partial<WorkspaceWish> = {}, id = newId("session")) {
      return begin(id, how);
    },
    async reopen() {
      await stage.snapshots.close();
      await log.close();
      stage.log = log = await openLog();
      stage.snapshots = await open();
    },
    async [Symbol.asyncDispose]() {
      await stage.snapshots.close();
      await log.close();
      rmSync(home, { recursive: true, force: true });
      if (defects.length > 0) throw new Error(defects.join("\n"));
    },
  };
  stage.snapshots = await open();
  return stage;

  async function open(): Promise<Snapshots> {
    const snapshots = openSnapshots({
      log,
      home,
      store: await openFolderStore(join(home, "storage")),
      terms: () => stage.terms,
      atRest: (occupant, work) => {
        ended.push(occupant);
        return work();
      },
      onDefect: (what, error) => void defects.push(`${what}: ${String(error)}`),
      now: () => stage.now,
      ...changes,
    });
    snapshots.takeTurnsVia({ inTurn: (_, work) => work() });
    return snapshots;
  }

  function openLog(): Promise<Log> {
    return openSqliteLog({
      file: join(home, "corral.db"),
      projections: [...workspaceProjections, ...snapshotProjections, ...rowsOfOthers],
    });
  }

  async function begin(id: SessionId, how: "in place" | Partial<WorkspaceWish>): Promise<StageSession> {
    const folder = await beginSession(log, { home, repo, project, id, how });
    const append = async (...events: ReturnType<typeof event>[]) =>
      void (await log.append({ stream: id, ...by, events }));
    await stage.snapshots.settled(id);
    return {
      id,
      folder,
      append,
      write: (files) => writeFiles(folder, files),
      async call(work, more = {}) {
        const call = newId("call");
        await append(event("call.started", { id: call, attempt: 1, ...more }));
        work();
        await append(event("call.settled", { id: call, result: null }));
        await stage.snapshots.settled(id);
        return call;
      },
      async taken() {
        return (await historyOf(log, id)).flatMap((each) => (each.type === "snapshot.taken" ? [each.data] : []));
      },
      types: async () => (await historyOf(log, id)).map(({ type }) => type),
    };
  }
}
