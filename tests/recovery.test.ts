import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { says } from "@corral/daemon/testing";
import { isKnown, newId, type RehearsalScript, type WireEvent } from "@corral/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkHistory, integrityTroubles, processesWith, timesDone } from "./history-checker.ts";
import {
  allHeard,
  eventsUntil,
  everything,
  isRunning,
  listen,
  type ServedDaemon,
  setStage,
  type Stage,
} from "./story.ts";

/** Whose calls each leave one mark a time they are done. */
const script: RehearsalScript = {
  turns: [
    {
      reply: [
        { think: "Two things at once." },
        { say: "Marking twice, side by side.", pieces: 4 },
        { call: "shell", arguments: { command: "echo done >> mark-a; echo a" } },
        { call: "shell", arguments: { command: "echo done >> mark-b; sleep 0.1; echo b" } },
      ],
    },
    { expectResult: "b", reply: [{ call: "shell", arguments: { command: "echo done >> mark-c; echo c" } }] },
    { expectResult: "c", reply: [{ say: "All marked." }] },
    { expect: "once more", reply: [{ call: "shell", arguments: { command: "echo done >> mark-d; echo d" } }] },
    { reply: [{ say: "Done." }] },
  ],
};
const stuck: RehearsalScript = {
  turns: [
    {
      reply: [{ call: "shell", arguments: { command: "echo done >> mark-e; test -e unstuck || sleep 1000; echo on" } }],
    },
    { expectResult: "on", reply: [{ say: "Done." }] },
  ],
};
const marks = ["mark-a", "mark-b", "mark-c", "mark-d"];

/**
 * Points at which one daemon after the other dies under the same session: what comes to it from people and runners, before and after
 * it is written down. Between them, both lives go through all there is.
 */
const ofDaemon = [
  [
    "inbox.admitting:1",
    "inbox.promoting:1",
    "office.appending.turn.prepared:1",
    "office.appended.turn.dispatched:1",
    "office.appending.call.requested:1",
    "office.appended.call.started:1",
    "office.appended.call.settled:1",
  ],
  [
    "inbox.admitted:1",
    "inbox.promoted:1",
    "office.delta:3",
    "office.appended.call.requested:1",
    // And again by whoever takes it up.
    "office.appending.call.settled:1",
    "office.appending.call.settled:1",
    "office.appending.turn.settled:1",
    "office.appended.activity.settled:1",
  ],
];

/** Of runners: the same, before one sends and after it knows, and what it does in between. Many in a row would have the session set aside. */
const ofRunner = [
  ["desk.sending.turn.prepared:1", "turn.streaming:3", "call.performed:1"],
  ["desk.durable.turn.dispatched:1", "desk.durable.call.requested:1", "desk.durable.call.settled:1"],
  ["call.performing:1", "desk.sending.activity.settled:1"],
];

let stage: Stage;
/** Who serves at the moment: one daemon after the other, each until it dies. */
let daemon: ServedDaemon;

beforeAll(async () => {
  stage = await setStage();
  const folder = join(stage.home, "rehearsals");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "marks.json"), JSON.stringify(script));
  writeFileSync(join(folder, "stuck.json"), JSON.stringify(stuck));
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Whoever serves before a test has no fault to die of yet. */
beforeEach(async () => {
  rmSync(faultFile(), { force: true });
  if (daemon === undefined || !isRunning(daemon.info.pid)) await serve();
});

async function serve(): Promise<void> {
  daemon = await stage.serve({ more: { CORRAL_FAULT_FILE: faultFile() } });
}

/** What is in it are points at which somebody is to die, who takes that one away. */
function faultFile(): string {
  return join(stage.home, "fault");
}

describe("however often it is cut off, a session goes on by itself, loses nothing and has one copy of everything, when", () => {
  test.each(ofDaemon.map((points) => [points.join(", "), points] as const))("daemons die at %s", async (_, points) => {
    const [first, ...others] = points;
    const story = await begin(first);
    for (const next of [...others, undefined]) {
      await daemon.gone;
      await isTaken();
      if (next !== undefined) writeFileSync(faultFile(), next);
      // It may die before it has told anybody that it serves.
      await serve().catch(() => undefined);
      await story.say().catch(() => undefined);
    }
    await story.goOn();
  });

  test.each(ofRunner.map((points) => [points.join(", "), points] as const))("runners die at %s", async (_, points) => {
    // All at once: nobody is asked before another runner goes on, which may be at the end by the time that a test has looked.
    const story = await begin(points.join("\n"));
    await story.goOn();
  });
});

/** Somebody has died. */
async function isTaken(): Promise<void> {
  await expect.poll(() => existsSync(faultFile()), { interval: 5 }).toBe(false);
}

test("what is queued survives a daemon that is asked to stop, and what it was in the middle of goes on", async () => {
  const story = await begin();
  await eventsUntil(stage.client(), "call.started", { session: story.session });
  expect(await daemon.end("SIGTERM")).toBe(0);
  await serve();
  await story.goOn();
});

test.each(["continue.asking", "continue.asked"])(
  "a word to go on counts once when the daemon dies at %s",
  async (point) => {
    const client = stage.client();
    const project = await client.projects.register({ path: stage.repository });
    const session = await client.sessions.create({ projectId: project.id, model: "anthropic/claude-sonnet-4-5" });
    writeFileSync(faultFile(), `${point}:1`);
    const word = newId("continue");
    await client.sessions.continue(session.id, { id: word }).catch(() => undefined);
    await daemon.gone;
    await serve();
    expect(await stage.client().sessions.continue(session.id, { id: word })).toEqual({ kind: "continued" });
    (await stage.model.nextRequest()).answer(says("On it."));
    const events = await eventsUntil(stage.client(), "activity.settled", { session: session.id });
    const asked = events.filter(({ type }) => type === "continue.asked" || type === "turn.dispatched");
    expect(asked.map(({ type, actor }) => `${type} by ${actor.split(":")[0]}`)).toEqual([
      "continue.asked by person",
      "turn.dispatched by agent",
    ]);
  },
);

test("a runner that was stopped when its daemon died never goes on: the next daemon ends it", async () => {
  const story = await begin();
  await eventsUntil(stage.client(), "turn.dispatched", { session: story.session });
  const stopped = daemon.runners();
  for (const pid of stopped) process.kill(pid, "SIGSTOP");
  await daemon.kill();
  expect(stopped.map(isRunning)).toEqual([true]);
  await serve();
  await expect.poll(() => stopped.map(isRunning)).toEqual([false]);
  // What it had told and not recorded was in its hands alone, and it could not leave it to anybody.
  await story.goOn({ unfinishedWords: "may be lost" });
});

test.each(["its runner", "the daemon"])(
  "words that were heard before %s died are on record as cut, once",
  async (who) => {
    const client = stage.client();
    const project = await client.projects.register({ path: stage.repository });
    const session = await client.sessions.create({ projectId: project.id, model: "anthropic/claude-sonnet-4-5" });
    const leaving = new AbortController();
    const { pieces, end } = listen(stage, { signal: leaving.signal });
    await client.sessions.admit(session.id, { id: newId("input"), text: "talk" });
    // No secret begins with a comma: the end of a text is held back while it may be the beginning of one.
    (await stage.model.nextRequest()).stream().text("Half a sen,");
    await expect.poll(() => [...pieces.values()], { timeout: 60_000 }).toContain("Half a sen,");
    if (who === "the daemon") {
      await daemon.kill();
      await serve();
    } else for (const pid of daemon.runners()) process.kill(pid, "SIGKILL");
    (await stage.model.nextRequest()).answer(says("A whole one."));
    const events = await eventsUntil(stage.client(), "activity.settled", { session: session.id });
    leaving.abort();
    await end;
    const told = events.flatMap((each): (number | { text: string; cut: boolean })[] => {
      if (!isKnown(each)) return [];
      if (each.type === "turn.dispatched") return [each.data.attempt];
      return each.type === "turn.said" ? [{ text: each.data.text, cut: each.data.cut === true }] : [];
    });
    expect(told).toEqual([1, { text: "Half a sen,", cut: true }, 2, { text: "A whole one.", cut: false }]);
  },
);

test("a call whose jail is killed while nobody watches is done again when a person says so, and then alone", async () => {
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const session = await client.sessions.create({ projectId: project.id, model: "rehearsal/stuck" });
  const input = { id: newId("input"), text: "go" };
  await client.sessions.admit(session.id, input);
  const mark = join(workspaceOf(session.id), "mark-e");
  await expect.poll(() => timesDone(mark)).toBe(1);
  const opened = (await eventsUntil(client, "environment.opened", { session: session.id })).at(-1) as WireEvent;
  await daemon.kill();
  process.kill((opened.data as { state: { supervisor: { pid: number } } }).state.supervisor.pid, "SIGKILL");
  writeFileSync(join(workspaceOf(session.id), "unstuck"), "");
  await serve();
  const events = await eventsUntil(stage.client(), "activity.waiting", { session: session.id });
  const unknown = events.find(({ type }) => type === "call.unknown")?.data as { id: `cal_${string}` };
  await stage.client().sessions.recover(session.id, { call: unknown.id, decision: "retry" });
  await eventsUntil(stage.client(), "activity.settled", { session: session.id });
  const all = await everything(stage.client());
  expect(checkHistory({ events: all, acknowledged: [input.id], workspaceOf })).toEqual([]);
  expect(timesDone(mark)).toBe(2);
});

test("and once everything is stopped, nothing of it runs any more", async () => {
  expect(await stage.corral("stop", "--now").exit).toBe(0);
  await expect.poll(() => processesWith(dirname(stage.home))).toEqual([]);
});

/** A session that is given two inputs by somebody who says them until they are acknowledged; somebody dies at the point. */
async function begin(point?: string) {
  const project = await stage.client().projects.register({ path: stage.repository });
  const session = await stage.client().sessions.create({ projectId: project.id, model: "rehearsal/marks" });
  const leaving = new AbortController();
  const { events: heard, pieces, end } = listen(stage, { signal: leaving.signal });
  const inputs = [
    { id: newId("input"), text: "mark it", delivery: "steer" as const },
    { id: newId("input"), text: "once more", delivery: "queue" as const },
  ];
  const acknowledged = new Set<string>();
  /** What was acknowledged before is not said again: losing it must show. */
  const say = async () => {
    for (const input of inputs.filter(({ id }) => !acknowledged.has(id))) {
      await stage.client().sessions.admit(session.id, input);
      acknowledged.add(input.id);
    }
  };
  if (point !== undefined) writeFileSync(faultFile(), point);
  await say().catch(() => undefined);
  return {
    session: session.id,
    say,
    async goOn({ unfinishedWords = "kept" }: { unfinishedWords?: "kept" | "may be lost" } = {}) {
      await say();
      await eventsUntil(stage.client(), "activity.settled", { session: session.id, nth: 2 });
      const events = await allHeard(stage, heard);
      const told = heard.slice(0, events.length);
      leaving.abort();
      await end;
      expect(existsSync(faultFile())).toBe(false);
      const own = events.filter(({ stream }) => stream === session.id);
      expect(integrityTroubles(join(stage.home, "corral.db"))).toEqual([]);
      const unclosed = [...pieces].filter(([part, text]) => !isClosed(events, part, text));
      if (unfinishedWords === "kept") expect(unclosed).toEqual([]);
      expect(checkHistory({ events, heard: told, acknowledged: inputs.map(({ id }) => id), workspaceOf })).toEqual([]);
      expect(marks.map((mark) => timesDone(join(workspaceOf(session.id), mark)))).toEqual([1, 1, 1, 1]);
      expect(own.filter(({ type }) => type === "turn.prepared")).toHaveLength(script.turns.length);
    },
  };
}

/** What was heard of a part is in the event that ends it, as cut if it was. */
function isClosed(events: readonly WireEvent[], part: string, text: string): boolean {
  const said = events.flatMap((each) => (isKnown(each) && each.type === "turn.said" ? [each.data] : []));
  const ends = said.filter((each) => each.part === part);
  return ends.length === 1 && ends.every((each) => each.text.startsWith(text));
}

function workspaceOf(session: string): string {
  return join(stage.home, "workspaces", session);
}
