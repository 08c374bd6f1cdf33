import { type ChildProcess, fork } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, type InputView, newId, type NewEvent, type StoredEvent } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultLimits } from "../../environments/index.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { idleFile, rehearsalMain } from "./testing/rehearsal.ts";

let home: string;
let runner: ChildProcess;
let messages: AsyncIterator<unknown[]>;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "corral-lifeline-"));
  writeFileSync(idleFile(home), "60000");
  runner = fork(rehearsalMain, ["--home", home], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  messages = on(runner, "message")[Symbol.asyncIterator]();
});
afterEach(() => {
  runner.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

const say = (message: ToRunner) => runner.send(message);

async function heard<S extends FromRunner["say"]>(word: S): Promise<Extract<FromRunner, { say: S }>> {
  for (;;) {
    const [message] = (await messages.next()).value as [FromRunner];
    if (message.say === word) return message as Extract<FromRunner, { say: S }>;
  }
}

test("a runner answers that it is there", async () => {
  await heard("ready");
  say({ say: "ping" });
  expect(await heard("pong")).toEqual({ say: "pong" });
});

test("a runner ends when its daemon is gone", async () => {
  await heard("ready");
  const ended = once(runner, "exit");
  runner.disconnect();
  expect(await ended).toEqual([0, null]);
});

test("a runner leaves it to its daemon when to end", async () => {
  await heard("ready");
  for (const signal of ["SIGTERM", "SIGINT"] as const) runner.kill(signal);
  say({ say: "ping" });
  expect(await heard("pong")).toEqual({ say: "pong" });
});

test("a runner goes on when nobody reads what it prints", async () => {
  await heard("ready");
  runner.stdout?.destroy();
  runner.stderr?.destroy();
  await startWith("shout\nshout\nsay unharmed");
  for (let texts: readonly string[] = []; !texts.includes("unharmed");) {
    const { run, request, events } = await heard("append");
    texts = events.flatMap((each) => (each.type === "turn.said" ? [each.data.text] : []));
    say({ say: "done", run, request, answer: {} });
  }
});

/** Starts a run and gives it the orders, as a daemon does. */
async function startWith(orders: string): Promise<void> {
  const [session, activity, input] = [newId("session"), newId("activity"), newId("input")];
  say({
    say: "start",
    run: 1,
    assignment: { session, fence: 1, repository: "/nonexistent", events: [], company: "others", limits: defaultLimits },
  });
  const { run, request } = await heard("promote");
  const events = [
    stored(session, event("activity.opened", { id: activity })),
    stored(session, event("input.promoted", { id: input, activityId: activity })),
  ];
  const promoted = { state: "promoted", activityId: activity, version: 1 } as const;
  const inputs: readonly InputView[] = [{ id: input, text: orders, attachments: [], delivery: "steer", ...promoted }];
  say({ say: "done", run, request, answer: { data: { events, inputs } } });
}

function stored(stream: string, it: NewEvent): StoredEvent {
  return { ...it, stream, seq: 1, version: 1, typeVersion: 1, actor: "corral", approximateCreationTime: "" };
}
