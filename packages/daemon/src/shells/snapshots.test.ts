import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type EventData, newId, openShellWish, type OpenShellWish, type ShellId } from "@corral/protocol";
import { afterEach, expect, test, vi } from "vitest";
import { artifactProjections, openArtifacts } from "../artifacts/index.ts";
import { driversOf } from "../environments/index.ts";
import { jailOwner, openJailDriver } from "../environments/jail/index.ts";
import { historyOf, type Projection } from "../log/index.ts";
import { Secrets } from "../secrets/index.ts";
import { openFolderStore } from "../storage/folder/index.ts";
import { keepScrollbacks, terminalProjections } from "../terminals/index.ts";
import { openTestProjects } from "../testing/projects.ts";
import { makeRepository } from "../testing/repository.ts";
import { openSnapshots, snapshotProjections, workspaceProjections } from "../workspaces/index.ts";
import { openShells, shellProjections } from "./index.ts";

const by = { actor: "person:ann" };
const day = 86_400_000;
const patience = { timeout: 60_000, interval: 10 };
const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** There are none here. */
const sessions: readonly Projection[] = [
  { table: "sessions", version: 1, columns: { open: "integer" }, indexes: [["open"]], changes: () => [] },
  { table: "removed_sessions", version: 1, columns: { how: "text" }, changes: () => [] },
];

/** A daemon's shells and snapshots, which another one can take up. With a long grace nothing is taken that nobody waits for. */
async function place({ graceMs = 1_000_000 }: { graceMs?: number } = {}) {
  // Below /tmp nothing can be borrowed from: jails have a /tmp of their own.
  const folder = mkdtempSync(join("/var/tmp", "corral-shell-snapshots-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const repository = makeRepository(join(folder, "repository"), { "file.txt": "one\n" });
  const home = join(folder, "home");
  let now = Date.now();
  const projections = [
    ...[shellProjections, terminalProjections, artifactProjections, sessions].flat(),
    ...[workspaceProjections, snapshotProjections].flat(),
  ];
  const open = async () => {
    const { log, projects } = await openTestProjects(folder, projections);
    const defects: string[] = [];
    const onDefect = (what: string, error?: unknown) => void defects.push(`${what}: ${String(error)}`);
    const artifacts = await openArtifacts({
      ...{ log, home, onDefect, store: await openFolderStore(join(home, "artifact-store")) },
      terms: () => ({ maxBytes: 1e9, sessionMaxBytes: 1e9, days: null }),
    });
    const shells = openShells({
      ...{ log, home, drivers: driversOf(openJailDriver({ home })), secrets: new Secrets(), artifacts, onDefect },
      scrollbacks: keepScrollbacks(artifacts, { everyMs: 10, secrets: new Secrets() }),
      waysOut: { hold: () => Promise.reject(new Error("there is no way out here")) },
    });
    const snapshots = openSnapshots({
      ...{ log, home, owner: jailOwner(), graceMs, onDefect, store: await openFolderStore(join(home, "storage")) },
      terms: () => ({ days: 30, most: 100, ignored: [], largestFile: 2 ** 20 }),
      atRest: (occupant, work) => shells.atRest(occupant as ShellId, "its files were restored", work),
      now: () => now,
    });
    shells.snapshotVia(snapshots);
    snapshots.takeTurnsVia({ inTurn: (_, work) => work() });
    await snapshots.begin();
    await shells.begin();
    const { id: project } = await projects.register({ path: repository }, by);
    return { log, shells, snapshots, artifacts, project, defects };
  };
  const stop = async ({ shells, snapshots, artifacts, log, defects }: Awaited<ReturnType<typeof open>>) => {
    shells.stop();
    await snapshots.close();
    await artifacts.close();
    await log.close();
    expect(defects).toEqual([]);
  };
  let current = await open();
  cleanUps.push(async () => {
    for (const { id } of await current.shells.list()) await current.shells.close(id, by);
    await stop(current);
  });
  return {
    home,
    repository,
    get shells() {
      return current.shells;
    },
    get snapshots() {
      return current.snapshots;
    },
    /** As after a stop or a crash of the daemon. */
    async again() {
      await stop(current);
      current = await open();
    },
    later(days: number) {
      now += days * day;
    },
    async shell(wish: Partial<OpenShellWish> = {}) {
      const view = await current.shells.open({ ...openShellWish.parse(wish), projectId: current.project }, by);
      return view.id;
    },
    /** Tells its id, when it has ended. */
    async run(id: ShellId, text: string) {
      const command = { id: newId("command"), text, timeoutMs: 60_000 };
      await current.shells.start(id, command, by);
      expect(await current.shells.follow(id, command.id, () => undefined)).toMatchObject({ state: "ended" });
      return command.id;
    },
    /** What was recorded of snapshots, without that of the beginning. */
    async told(id: ShellId): Promise<readonly object[]> {
      const events = await historyOf(current.log, id);
      return events.flatMap(({ type, data }): object[] => {
        if (type === "snapshot.taken" && data.reason !== "start") return [figuresOf(data)];
        return type === "snapshot.unchanged" ? [{ unchanged: data.commands }] : [];
      });
    },
    types: async (id: ShellId) => (await historyOf(current.log, id)).map(({ type }) => type),
    /** Names of shells of which anything of snapshots is on the disk, and how many packs there are. */
    onDisk: () => ({
      shelves: existsSync(join(home, "snapshots")) ? readdirSync(join(home, "snapshots")) : [],
      packs: readdirSync(join(home, "storage"), { recursive: true, encoding: "utf8" }).filter((name) =>
        /[0-9a-f]{64}$/.test(name),
      ).length,
    }),
    write: (id: ShellId, file: string) => writeFileSync(join(home, "workspaces", id, file), ""),
    read: (id: ShellId, file: string) => readFileSync(join(home, "workspaces", id, file), "utf8"),
  };
}

function figuresOf({ commands, terminals, files, insertions, deletions }: EventData<"snapshot.taken">) {
  return { commands, ...(terminals && { terminals }), files, insertions, deletions };
}

test("what each command changed is kept before the next that can write begins, and those that read wait for nothing", async () => {
  const at = await place();
  const id = await at.shell();
  const first = await at.run(id, "echo two >>file.txt");
  await at.run(id, "cat file.txt");
  expect(await at.told(id)).toEqual([]);
  const second = await at.run(id, "rm file.txt; echo new >new.txt");
  const third = await at.run(id, "touch new.txt");
  await at.snapshots.settled(id);
  expect(await at.told(id)).toEqual([
    { commands: [first], files: 1, insertions: 1, deletions: 0 },
    { commands: [second], files: 2, insertions: 1, deletions: 2 },
    { unchanged: [third] },
  ]);
  const [start, one, two] = await at.snapshots.list(id);
  expect([start?.reason, one?.shell, one?.session]).toEqual(["start", id, undefined]);
  expect(await at.snapshots.diff(start!.id, one!.id)).toMatchObject({
    shell: id,
    patch: expect.stringContaining(" one\n+two\n") as string,
  });
  expect((await at.snapshots.diff(two!.id, undefined)).files).toEqual([]);
});

test("a shell that is closed with changes has its files in a snapshot, to restore them from until they are too old", async () => {
  const at = await place();
  const id = await at.shell();
  const first = await at.run(id, "echo two >>file.txt; (until [ -e go ]; do sleep 0.01; done; touch late over) & :");
  await at.snapshots.settled(id);
  // What runs on in the background writes when the command has ended and its snapshot is taken.
  at.write(id, "go");
  await vi.waitFor(() => expect(at.read(id, "over")).toBe(""), patience);
  expect(await at.shells.close(id, by)).toEqual({ id, kept: join(at.home, "workspaces", id) });
  await at.snapshots.settled(id);
  expect(await at.told(id)).toEqual([
    { commands: [first], files: 1, insertions: 1, deletions: 0 },
    { commands: [], files: 3, insertions: 0, deletions: 0 },
  ]);
  const [start] = await at.snapshots.list(id);
  await at.snapshots.restore(start!.id, { paths: ["file.txt"] }, by);
  expect([at.read(id, "file.txt"), at.read(id, "late")]).toEqual(["one\n", ""]);
  await at.snapshots.expire();
  expect((await at.snapshots.list(id)).length).toBe(4);
  at.later(31);
  await at.snapshots.expire();
  expect([await at.snapshots.list(id), at.onDisk()]).toEqual([[], { shelves: [], packs: 0 }]);
  expect(at.read(id, "file.txt")).toBe("one\n");
});

test("a shell that is closed with nothing to keep takes its snapshots along, also after a crash, and needs no further one", async () => {
  const at = await place();
  const [one, two] = [await at.shell(), await at.shell()];
  for (const id of [one, two]) {
    await at.run(id, `echo ${id} >more.txt`);
    await at.run(id, "rm more.txt");
  }
  expect(at.onDisk().shelves).toEqual([one, two].toSorted());
  await at.shells.close(one, by);
  await at.snapshots.settled(one);
  expect([at.onDisk().shelves, await at.snapshots.list(one), (await at.told(one)).length]).toEqual([[two], [], 1]);
  // The daemon is gone before it hears that the second is closed.
  await at.snapshots.close();
  await at.shells.close(two, by);
  await at.again();
  expect(at.onDisk().shelves).toEqual([two]);
  await at.snapshots.expire();
  expect([at.onDisk(), await at.snapshots.list(two)]).toEqual([{ shelves: [], packs: 0 }, []]);
});

test("what was done on a terminal is kept when it closes", async () => {
  const at = await place({ graceMs: 0 });
  const id = await at.shell();
  const { id: terminal } = await at.shells.terminals.open(id, { columns: 80, rows: 24 }, by);
  const seat = await at.shells.terminals.watch(id, terminal, {
    ...{ onOutput: () => undefined, onSize: () => undefined, onClosed: () => undefined },
  });
  if (!("leave" in seat)) throw new Error("it has ended");
  seat.write(Buffer.from("echo typed >typed.txt; exit\r"));
  await vi.waitFor(async () => expect(await at.told(id)).toHaveLength(1), patience);
  expect(await at.told(id)).toEqual([{ commands: [], terminals: [terminal], files: 1, insertions: 1, deletions: 0 }]);
});

test("what a stopped daemon did not get to is taken by the next, of closed shells too, and once", async () => {
  const at = await place();
  const [left, closed] = [await at.shell(), await at.shell()];
  const commands = [await at.run(left, "echo two >>file.txt"), await at.run(closed, "echo two >>file.txt")];
  await at.snapshots.close();
  await at.shells.close(closed, by);
  await at.again();
  for (const [which, id] of [left, closed].entries()) {
    await at.snapshots.settled(id);
    await vi.waitFor(async () => expect(await at.told(id)).toMatchObject([{ commands: [commands[which]] }]), patience);
  }
  await at.again();
  await at.snapshots.settled(closed);
  expect(await at.told(closed)).toHaveLength(1);
});

test("files are restored at rest alone, and the next command sees them in a shell of its own", async () => {
  const at = await place();
  const id = await at.shell();
  await at.run(id, "echo two >>file.txt");
  await at.snapshots.settled(id);
  const [start] = await at.snapshots.list(id);
  const command = { id: newId("command"), text: "until [ -e go ]; do sleep 0.01; done", timeoutMs: 60_000 };
  await at.shells.start(id, command, by);
  await expect(at.snapshots.restore(start!.id, {}, by)).rejects.toMatchObject({ code: "workspace.busy" });
  await at.shells.interrupt(id, by);
  await at.shells.follow(id, command.id, () => undefined);
  const restoring = at.snapshots.restore(start!.id, {}, by);
  const seen = await at.run(id, "cp file.txt seen.txt");
  const restored = await restoring;
  await at.snapshots.settled(id);
  expect(at.read(id, "seen.txt")).toMatch(/^one\n(two\n)?$/);
  expect(await at.told(id)).toContainEqual({
    commands: [seen],
    files: 1,
    insertions: expect.any(Number),
    deletions: 0,
  });
  await at.snapshots.restore(restored.before, {}, by);
  expect(at.read(id, "file.txt")).toBe("one\ntwo\n");
});

test("none are taken in place, in an empty folder and where nothing can be written", async () => {
  const at = await place({ graceMs: 0 });
  const owner = jailOwner();
  if (owner !== undefined) execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, at.repository]);
  const wishes = [{ workspace: "in-place" }, { workspace: "scratch" }, { environment: { access: "read" } }] as const;
  for (const wish of wishes) {
    const id = await at.shell(openShellWish.parse({ ...wish }));
    await at.run(id, "touch x || :");
    await at.snapshots.settled(id);
    await expect(at.snapshots.take(id, by)).rejects.toMatchObject({ code: "not-found" });
    await at.shells.close(id, by);
    expect((await at.types(id)).filter((type) => type.startsWith("snapshot."))).toEqual([]);
  }
});
