import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

/** Gives the agent a task that it does with these commands, one in a turn. */
async function work(stage: Stage, commands: readonly string[], ...flags: string[]): Promise<SessionId> {
  const run = stage.corral("run", ...flags, "work");
  for (const command of commands) (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  (await stage.model.nextRequest()).answer(says("done"));
  expect({ code: await run.exit, err: run.stderr() }).toMatchObject({ code: 0 });
  return /^session (ses_\w+)/.exec(run.stderr())![1] as SessionId;
}

async function told(stage: Stage, ...args: string[]) {
  const command = stage.corral(...args);
  return { code: await command.exit, out: command.stdout(), err: command.stderr() };
}

test("each step is kept, compared, restored and taken back, and another session begins from one", async () => {
  await using stage = await setStage();
  await stage.serve();
  const session = await work(stage, ["echo two >>README.md", "cat README.md", "rm README.md; echo new >new.txt"]);
  await eventsUntil(stage.client(), "snapshot.taken", { session, nth: 3 });
  const [start, two, three] = await stage.client().snapshots.list(session);
  const listed = await told(stage, "snapshots");
  expect(listed.out.split("\n").map((line) => line.split("  ").toSpliced(1, 1))).toEqual([
    [start!.id, "as it began"],
    [two!.id, "after 1 call", "1 file +1 -0"],
    [three!.id, "after 1 call", "2 files +1 -2"],
    [""],
  ]);
  expect((await told(stage, "snapshots", "diff", start!.id, two!.id)).out).toContain(" hello\n+two\n");
  const folder = join(stage.home, "workspaces", session);
  const restored = await told(stage, "snapshots", "restore", two!.id);
  expect(restored).toMatchObject({ code: 0, err: expect.stringContaining(`as in ${two!.id}`) as string });
  expect(readFileSync(join(folder, "README.md"), "utf8")).toBe("hello\ntwo\n");
  expect(existsSync(join(folder, "new.txt"))).toBe(false);
  expect(await told(stage, "snapshots", "restore", three!.id, "new.txt")).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("new\n");
  const forked = await work(stage, ["cat README.md >seen.txt"], "--from", two!.id);
  expect(readFileSync(join(stage.home, "workspaces", forked, "seen.txt"), "utf8")).toBe("hello\ntwo\n");
  await eventsUntil(stage.client(), "workspace.brought-back", { session: forked });
  expect(await told(stage, "snapshots", "diff", "snp_none")).toEqual({
    code: 1,
    out: "",
    err: "error: There is no snapshot snp_none.\nhint: `corral snapshots` lists those that are kept\n",
  });
});

test("the next writing call waits for the snapshot of the one before", async () => {
  await using stage = await setStage();
  await stage.serve();
  const session = await work(stage, ["echo one >a.txt", "echo two >b.txt", "echo three >c.txt"]);
  const events = await eventsUntil(stage.client(), "snapshot.taken", { session, nth: 4 });
  const isOfCalls = (data: unknown) => (data as { reason: string }).reason === "calls";
  const deeds = events.filter(
    ({ type, data }) => type === "call.settled" || (type === "snapshot.taken" && isOfCalls(data)),
  );
  const [ended, kept] = ["call.settled", "snapshot.taken"];
  expect(deeds.map(({ type }) => type)).toEqual([ended, kept, ended, kept, ended, kept]);
  for (const { data } of deeds.filter(({ type }) => type === kept))
    expect(data).toMatchObject({ files: 1, insertions: 1 });
});

test.each(["snapshot.written:1", "snapshot.stored:2"])(
  "killed in the middle of one (%s), the next covers it and names its calls, and nothing is left of it",
  async (fault) => {
    await using stage = await setStage();
    const daemon = await stage.serve({ fault });
    const client = stage.client();
    const project = await client.projects.register({ path: stage.repository });
    const { id: session } = await client.sessions.create({ projectId: project.id, model: "anthropic/scripted" });
    await client.sessions.admit(session, { id: "inp_1", text: "work" });
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo one >a.txt" }));
    await daemon.gone;
    await stage.serve();
    const events = await eventsUntil(stage.client(), "snapshot.taken", { session, nth: 2 });
    const call = events.find(({ type }) => type === "call.settled")?.data as { id: string };
    expect(events.at(-1)?.data).toMatchObject({ reason: "calls", calls: [call.id], files: 1, insertions: 1 });
    expect(events.filter(({ type }) => type === "snapshot.failed")).toEqual([]);
    const left = readdirSync(join(stage.home, "snapshots", session)).filter((name) => name.endsWith(".lock"));
    expect(left).toEqual([]);
  },
);

test("a person's shell in a copy is kept step by step, compared, restored, forked and audited", async () => {
  await using stage = await setStage();
  await stage.serve({ fault: "snapshot.stored:2" }).then(async (daemon) => {
    // The daemon dies while the snapshot of the first command is taken.
    expect(await told(stage, "shell", "--keep", "-c", "echo two >>README.md")).toMatchObject({ code: 0 });
    await daemon.gone;
  });
  await stage.serve();
  const client = stage.client();
  const [{ id: shell, path } = never()] = await client.shells.list();
  const run = (command: string) => told(stage, "shell", "--in", shell, "-c", command);
  expect(await run("rm README.md; echo new >new.txt")).toMatchObject({ code: 0 });
  expect(await run("touch new.txt")).toMatchObject({ code: 0 });
  expect(await told(stage, "snapshots", "take", shell)).toMatchObject({ code: 0 });
  const [start, two, three] = await client.snapshots.list(shell);
  const listed = await told(stage, "snapshots", shell);
  expect(listed.out.split("\n").map((line) => line.split("  ").toSpliced(1, 1))).toEqual([
    [start!.id, "as it began"],
    [two!.id, "after 1 command", "1 file +1 -0"],
    [three!.id, "after 1 command", "2 files +1 -2"],
    [""],
  ]);
  expect((await told(stage, "snapshots", "diff", start!.id, two!.id)).out).toContain(" hello\n+two\n");
  const audited = (await told(stage, "audit", "--shell", shell)).out.split("\n");
  expect(audited.filter((line) => /^ {2}(\d|\$)/.test(line))).toEqual([
    "  $ echo two >>README.md",
    "  1 file, +1 −0",
    "  $ rm README.md; echo new >new.txt",
    "  2 files, +1 −2",
    "  $ touch new.txt",
  ]);
  const restored = await told(stage, "snapshots", "restore", two!.id);
  expect(restored).toMatchObject({ code: 0, err: expect.stringContaining(`as in ${two!.id}`) as string });
  expect(readFileSync(join(path, "README.md"), "utf8")).toBe("hello\ntwo\n");
  const forked = await work(stage, ["cat README.md >seen.txt"], "--from", two!.id);
  expect(readFileSync(join(stage.home, "workspaces", forked, "seen.txt"), "utf8")).toBe("hello\ntwo\n");
  expect(await told(stage, "shell", "--end", shell)).toMatchObject({ code: 0 });
});

function never(): never {
  throw new Error("there is no shell");
}
