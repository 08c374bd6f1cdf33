import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@corral/client";
import { callsTool, says } from "@corral/daemon/testing";
import { newId, type SessionId, type WireEvent } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

/** Until there is a file `go`. */
const slowCommand = "echo a >> c; until [ -e go ]; do sleep 0.05; done; echo b >> c; echo finished";

describe("kill -9", () => {
  test("of the daemon while a command runs: the session finishes by itself with the true output, each line once", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage, "write slowly");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: slowCommand }));
    await commandRuns(stage, session);

    await daemon.kill();
    await stage.serve();
    letFinish(stage, session);

    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("finished");
    next.answer(says("done"));
    const events = await eventsUntil(stage.client(), "activity.settled", { session });
    expect(workspaceFile(stage, session, "c")).toBe("a\nb\n");
    expect(events.filter((each) => each.type === "call.started")).toHaveLength(1);
    expect(events.filter((each) => each.type === "call.settled").map((each) => each.data)).toMatchObject([
      { result: { exitCode: 0, stdout: "finished\n", stderr: "" } },
    ]);
  });

  test("of the daemon while commands run side by side: each is found again in its shell, and ran once", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage, "look around");
    // One that was begun again would say so.
    const look = (word: string) => `echo ${word}; test -e go && echo again; until test -e go; do sleep 0.05; done; pwd`;
    const looks = ["one", "two"].map(look);
    const reply = (await stage.model.nextRequest()).stream();
    for (const command of looks) reply.call("shell", { command });
    reply.finish();
    await outputsOf(stage, session, 2);

    await daemon.kill();
    letFinish(stage, session);
    await stage.serve();

    (await stage.model.nextRequest()).answer(says("done"));
    const events = await eventsUntil(stage.client(), "activity.settled", { session });
    const dataOf = (type: WireEvent["type"]) => events.filter((each) => each.type === type).map(({ data }) => data);
    expect(dataOf("call.started")).toEqual([
      { id: expect.any(String) as string, attempt: 1 },
      { id: expect.any(String) as string, attempt: 1, beside: { shell: "beside-1" } },
    ]);
    const told = dataOf("call.settled") as { result: { stdout: string } }[];
    expect(told.map(({ result }) => result.stdout).toSorted()).toEqual(["one\n/workspace\n", "two\n/workspace\n"]);
  });

  test("of the runner while a command runs: another runner joins the command and finishes", async () => {
    await using stage = await setStage({ runners: 2 });
    const daemon = await stage.serve();
    const session = await prompted(stage, "write slowly");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: slowCommand }));
    await commandRuns(stage, session);

    const killed = daemon.runners();
    for (const runner of killed) process.kill(runner, "SIGKILL");
    await expect.poll(() => daemon.runners().some((runner) => !killed.includes(runner))).toBe(true);
    letFinish(stage, session);

    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("finished");
    next.answer(says("done"));
    await eventsUntil(stage.client(), "activity.settled", { session });
    expect(workspaceFile(stage, session, "c")).toBe("a\nb\n");
  });

  test("of the daemon in mid-stream: the model is asked again, once, as a second attempt", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const run = stage.corral("run", "talk");
    const reply = (await stage.model.nextRequest()).stream();
    reply.text("Once upon ");
    await run.shows("Once upon ");

    await daemon.kill();
    await stage.serve();

    const again = await stage.model.nextRequest();
    expect(again.newInputs).toEqual(["talk"]);
    again.answer(says("Once upon a time."));
    expect(await run.exit).toBe(0);
    expect(run.stdout()).toContain("Once upon a time.");
    const events = await eventsUntil(stage.client(), "activity.settled");
    expect(events.filter((each) => each.type === "turn.dispatched").map((each) => each.data)).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
    ]);
    const said = events.filter((each) => each.type === "turn.said").map(({ data }) => data as { cut?: boolean });
    expect(said).toMatchObject([{ text: "Once upon ", cut: true }, { text: "Once upon a time." }]);
    expect(said[1]?.cut).toBeUndefined();
  });

  test("of daemon after daemon: an input accepted just before is never lost", async () => {
    await using stage = await setStage();
    let daemon = await stage.serve();
    const session = await prompted(stage, "first words\n[[say: heard]]");
    await daemon.kill();
    daemon = await stage.serve();
    await daemon.kill();
    await stage.serve();
    const client = stage.client();
    const events = await eventsUntil(client, "activity.settled", { session });
    expect(events.filter((each) => each.type === "input.promoted")).toHaveLength(1);
    expect(events.findLast((each) => each.type === "turn.said")?.data).toMatchObject({ text: "heard" });
  });

  test("of the daemon when it has given a place to a session in line: the session has it afterwards, too, and begins once", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve({ fault: "place.given:1" });
    expect(await stage.corral("config", "set", "sessions.atOnce", "1").exit).toBe(0);
    await prompted(stage, "first");
    const first = await stage.model.nextRequest();
    const session = await prompted(stage, "second");
    await eventsUntil(stage.client(), "place.awaited", { session });
    first.answer(says("done"));
    await daemon.gone;
    await stage.serve();

    const second = await stage.model.nextRequest();
    expect(second.newInputs).toEqual(["second"]);
    second.answer(says("done, too"));
    const events = await eventsUntil(stage.client(), "activity.settled", { session });
    const story = events
      .map(({ type }) => type)
      .filter((type) => /^(place|input)\.|^activity\.(opened|settled)/.test(type));
    expect(story).toEqual([
      "input.admitted",
      "place.awaited",
      "place.given",
      "activity.opened",
      "input.promoted",
      "activity.settled",
    ]);
  });

  test("of the model server: what it had not begun is asked again, and what it had said is kept and gone on with by a person's word", async () => {
    let server = await modelServer();
    const { url } = server;
    await using stage = await setStage({ variables: { ANTHROPIC_BASE_URL: url } });
    await stage.serve();
    const client = stage.client();

    server.process.kill("SIGSTOP");
    const session = await prompted(stage, "[[say: hello]]");
    await eventsUntil(client, "turn.dispatched", { session });
    // It is told before the request is sent, and another server would simply answer that.
    await expect.poll(() => unreadAt(url)).toBeGreaterThan(requestBytes);
    await killed(server);
    server = await modelServer(url);
    const asked = await eventsUntil(client, "activity.settled", { session });
    expect(asked.at(-1)?.data).toMatchObject({ outcome: "done" });
    expect(asked.filter(({ type }) => type === "turn.attempt-failed")).not.toEqual([]);
    expect(asked.filter(({ type }) => type === "turn.said").map(({ data }) => data)).toMatchObject([{ text: "hello" }]);

    const slowly = "[[say in 16 pieces every 60000: once upon a time]]";
    await client.sessions.admit(session, { id: newId("input"), text: slowly });
    await firstWords(client, session);
    await killed(server);
    const cut = await eventsUntil(client, "activity.settled", { session, nth: 2 });
    expect(cut.at(-1)?.data).toMatchObject({ outcome: "failed", error: { hint: expect.stringContaining("saved") } });
    const said = cut.findLast(({ type }) => type === "turn.said")?.data as { text: string; cut: boolean };
    expect([said.cut, "once upon a time".startsWith(said.text)]).toEqual([true, true]);

    server = await modelServer(url);
    await client.sessions.admit(session, { id: newId("input"), text: "go on" });
    const ended = await eventsUntil(client, "activity.settled", { session, nth: 3 });
    expect(ended.at(-1)?.data).toMatchObject({ outcome: "done" });
    await killed(server);
  });

  test("of the jail while a command runs and nobody watches: the call is unknown, and a person decides", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await prompted(stage, "go");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo a >> c; sleep 1000" }));
    await commandRuns(stage, session);
    const opened = (await eventsUntil(stage.client(), "environment.opened", { session })).at(-1) as WireEvent;
    const { pid } = (opened.data as { state: { supervisor: { pid: number } } }).state.supervisor;
    await daemon.kill();
    process.kill(pid, "SIGKILL");
    await stage.serve();
    const client = stage.client();
    const waiting = await eventsUntil(client, "activity.waiting", { session });
    const call = waiting.find((each) => each.type === "call.unknown")?.data as { id: `cal_${string}` };
    expect((await client.sessions.get(session)).state).toMatchObject({ state: "waiting", on: "recovery" });
    await client.sessions.recover(session, { call: call.id, decision: "abandon" });
    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("chose not to run it again");
    next.answer(says("fine"));
    await eventsUntil(client, "activity.settled", { session });
    expect(workspaceFile(stage, session, "c")).toBe("a\n");
  });
});

interface ModelServer {
  readonly process: ChildProcess;
  readonly url: string;
}

/**
 * The scripted model in a process that can be killed; at the address of an earlier one, or at any. Not at one that the system chooses:
 * until it is needed again, that may be given to somebody else.
 */
async function modelServer(at?: string): Promise<ModelServer> {
  const program = join(import.meta.dirname, "../packages/daemon/src/testing/scripted-model/serve.ts");
  const port = at === undefined ? String(randomInt(10_000, 30_000)) : new URL(at).port;
  const child = spawn(process.execPath, [program, port], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit").then(() => [undefined]);
  const [line] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer | undefined];
  if (line !== undefined) return { process: child, ...(JSON.parse(line.toString()) as { url: string }) };
  if (at === undefined) return modelServer();
  throw new Error(`the model server did not come up at ${at}`);
}

async function killed({ process: child }: ModelServer): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** No model request is shorter. */
const requestBytes = 1_000;

/** How many bytes the server there was sent and has not read yet: nobody else can tell of one that is stopped. */
function unreadAt(url: string): number {
  const place = `0100007F:${Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => local === place)
    .reduce(
      (sum, [, , , state, queues]) => sum + (state === "01" ? Number.parseInt(queues?.split(":")[1] ?? "0", 16) : 0),
      0,
    );
}

async function firstWords(client: Client, session: SessionId): Promise<void> {
  const enough = new AbortController();
  for await (const each of client.follow({ after: 0, session, signal: enough.signal }))
    if (each.kind === "delta" && each.delta.kind === "text") break;
  enough.abort();
}

/** So many calls have said something. */
async function outputsOf(stage: Stage, session: SessionId, calls: number): Promise<void> {
  const enough = new AbortController();
  const heard = new Set<string>();
  for await (const each of stage.client().follow({ after: 0, session, signal: enough.signal })) {
    if (each.kind === "delta" && each.delta.kind === "stdout") heard.add(each.delta.part);
    if (heard.size === calls) break;
  }
  enough.abort();
}

async function prompted(stage: Stage, text: string): Promise<SessionId> {
  const client: Client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const session = await client.sessions.create({ projectId: project.id });
  await client.sessions.admit(session.id, { id: newId("input"), text });
  return session.id;
}

/** The command has begun: its first line is in the file. */
async function commandRuns(stage: Stage, session: SessionId): Promise<void> {
  await expect.poll(() => workspaceFile(stage, session, "c")).toBe("a\n");
}

function letFinish({ home }: Stage, session: SessionId): void {
  writeFileSync(join(home, "workspaces", session, "go"), "");
}

function workspaceFile(stage: Stage, session: SessionId, name: string): string | undefined {
  try {
    return readFileSync(join(stage.home, "workspaces", session, name), "utf8");
  } catch {
    return undefined;
  }
}
