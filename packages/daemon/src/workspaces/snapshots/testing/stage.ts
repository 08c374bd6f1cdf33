import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CallId, event, type EventData, newId, type ProjectId, type SessionId } from "@corral/protocol";
import { jailOwner } from "../../../environments/jail/index.ts";
import { historyOf, type Log } from "../../../log/index.ts";
import { openSqliteLog } from "../../../log/sqlite/index.ts";
import { openFolderStore } from "../../../storage/folder/index.ts";
import { makeRepository } from "../../../testing/repository.ts";
import { workspaceFolder } from "../../folder.ts";
import { openInPlace } from "../../in-place.ts";
import { prepareWorkspace, type WorkspaceWish } from "../../prepare.ts";
import { workspaceProjections } from "../../projection.ts";
import { snapshotProjections } from "../projection.ts";
import { openSnapshots, type Snapshots, type SnapshotsOptions, type SnapshotTerms } from "../snapshots.ts";

export const by = { actor: "person:test" };

/** Snapshots on a real log, with workspaces that nobody runs anything in but the test. */
export interface SnapshotStage extends AsyncDisposable {
  readonly home: string;
  readonly repo: string;
  readonly project: ProjectId;
  readonly log: Log;
  readonly snapshots: Snapshots;
  readonly ended: readonly SessionId[];
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
  const project = newId("project");
  const defects: string[] = [];
  const ended: SessionId[] = [];
  let log = await openLog();
  await log.append({
    stream: project,
    ...by,
    events: [event("project.registered", { id: project, path: repo, name: "repo" })],
  });
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
    return openSnapshots({
      log,
      home,
      owner: jailOwner(),
      store: await openFolderStore(join(home, "storage")),
      terms: () => stage.terms,
      endEnvironments: (id) => Promise.resolve(void ended.push(id)),
      inTurn: (_, work) => work(),
      onDefect: (what, error) => void defects.push(`${what}: ${String(error)}`),
      now: () => stage.now,
      ...changes,
    });
  }

  function openLog(): Promise<Log> {
    return openSqliteLog({
      file: join(home, "corral.db"),
      projections: [...workspaceProjections, ...snapshotProjections, ...stand],
    });
  }

  async function begin(id: SessionId, how: "in place" | Partial<WorkspaceWish>): Promise<StageSession> {
    const environment = { kind: "jail", network: "off" } as const;
    const kind = how === "in place" ? "in-place" : "copy";
    const settings = { title: "", model: "a/b", mode: "auto", environment, workspace: kind, turnLimit: 9 } as const;
    const branch = `corral/${id}`;
    const wish = { repo, destination: workspaceFolder(home, id), branch, owner: jailOwner() };
    const prepared =
      how === "in place"
        ? await openInPlace(repo, { branch, owner: undefined })
        : await prepareWorkspace({ ...wish, ...how });
    const { path: folder, base, head, readable, variables, way } = prepared;
    const append = async (...events: ReturnType<typeof event>[]) =>
      void (await log.append({ stream: id, ...by, events }));
    await append(
      event("session.created", { projectId: project, ...settings }),
      event("workspace.prepared", {
        ...{ path: folder, branch, base, way, readable: [...readable], variables: { ...variables } },
        ...(head === base ? {} : { head }),
      }),
    );
    await stage.snapshots.settled(id);
    return {
      id,
      folder,
      append,
      write: (files) => writeAll(folder, files),
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

function writeAll(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  // Whoever works there is not who tests.
  const owner = jailOwner();
  if (owner !== undefined) execFileSync("chown", ["-R", "-h", `${owner.uid}:${owner.gid}`, folder]);
}

/** Rows that other slices keep, as far as this one looks at them. */
const stand = [
  {
    table: "projects",
    version: 1,
    columns: { path: "text" },
    changes: ({ type, stream, data }: { type: string; stream: string; data: unknown }) =>
      type === "project.registered" ? [{ key: stream, set: { path: (data as { path: string }).path } }] : [],
  },
  {
    table: "sessions",
    version: 1,
    columns: { open: "integer" },
    indexes: [["open"]],
    changes: ({ type, stream }: { type: string; stream: string }) =>
      type === "activity.opened" || type === "activity.settled"
        ? [{ key: stream, set: { open: type === "activity.opened" ? 1 : 0 } }]
        : [],
  },
] as const;
