import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newId, type RehearsalScript, type WireEvent } from "@corral/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkHistory, integrityTroubles, processesWith, timesDone } from "./history-checker.ts";
import { eventsUntil, everything, listen, type ServedDaemon, setStage, type Stage } from "./story.ts";

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
const marks = ["mark-a", "mark-b", "mark-c", "mark-d"];

/** Of the daemon: what comes to it from people and runners, before and after it is written down. */
const ofDaemon = [
  "inbox.admitting:1",
  "inbox.admitted:1",
  "inbox.promoting:1",
  "inbox.promoted:1",
  "office.appending.turn.prepared:1",
  "office.appended.turn.dispatched:1",
  "office.delta:3",
  "office.appending.call.requested:1",
  "office.appended.call.requested:1",
  "office.appended.call.started:1",
  "office.appending.call.settled:1",
  "office.appended.call.settled:1",
  "office.appending.turn.settled:1",
  "office.appended.activity.settled:1",
];

/** Of a runner: the same, before it sends and after it knows, and what it does in between. */
const ofRunner = [
  "desk.sending.turn.prepared:1",
  "desk.durable.turn.dispatched:1",
  "turn.streaming:3",
  "desk.durable.call.requested:1",
  "call.performing:1",
  "call.performed:1",
  "desk.durable.call.settled:1",
  "desk.sending.activity.settled:1",
];

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
  const folder = join(stage.home, "rehearsals");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "marks.json"), JSON.stringify(script));
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Whoever serves at the end of a test goes as roughly as everybody else. */
async function serve(more?: Record<string, string>): Promise<ServedDaemon> {
  const daemon = await stage.serve({ ...(more === undefined ? {} : { more }) });
  onTestFinished(() => daemon.kill());
  return daemon;
}

describe("a session goes on by itself, loses nothing and does nothing twice, when the daemon dies at", () => {
  test.each(ofDaemon)("%s", async (point) => {
    const story = await begin(point);
    await story.daemon.gone;
    await serve();
    await story.goOn();
  });
});

describe("a session goes on by itself, loses nothing and does nothing twice, when its runner dies at", () => {
  test.each(ofRunner)("%s", async (point) => {
    const story = await begin(point);
    await story.goOn();
  });
});

test("and once everything is stopped, nothing of it runs any more", async () => {
  await serve();
  expect(await stage.corral("stop", "--now").exit).toBe(0);
  await expect.poll(() => processesWith(dirname(stage.home)), { timeout: 20_000 }).toEqual([]);
});

/** A session that is given two inputs by somebody who says them until they are acknowledged. */
async function begin(point: string) {
  const died = join(stage.home, `died-of-${point}`);
  const daemon = await serve({ CORRAL_FAULT: point, CORRAL_FAULT_ONCE: died });
  const project = await stage.client().projects.register({ path: stage.repository });
  const session = await stage.client().sessions.create({ projectId: project.id, model: "rehearsal/marks" });
  const leaving = new AbortController();
  const { events: heard, end } = listen(stage, { signal: leaving.signal });
  const inputs = [
    { id: newId("input"), text: "mark it", delivery: "steer" as const },
    { id: newId("input"), text: "once more", delivery: "queue" as const },
  ];
  const say = async () => {
    for (const input of inputs) await stage.client().sessions.admit(session.id, input);
  };
  await say().catch(() => undefined);
  return {
    daemon,
    async goOn() {
      await say();
      await eventsUntil(stage.client(), "activity.settled", { session: session.id, nth: 2 });
      const events = await allHeard(heard);
      leaving.abort();
      await end;
      expect(readFileSync(died, "utf8")).toBe("");
      const own = events.filter(({ stream }) => stream === session.id);
      expect(integrityTroubles(join(stage.home, "corral.db"))).toEqual([]);
      expect(checkHistory({ events, heard, acknowledged: inputs.map(({ id }) => id), workspaceOf })).toEqual([]);
      expect(marks.map((mark) => timesDone(join(workspaceOf(session.id), mark)))).toEqual([1, 1, 1, 1]);
      expect(own.filter(({ type }) => type === "turn.prepared")).toHaveLength(script.turns.length);
    },
  };
}

/** All that was recorded, once it has reached the subscriber, too. */
async function allHeard(heard: readonly WireEvent[]): Promise<readonly WireEvent[]> {
  let events: readonly WireEvent[] = [];
  const caughtUp = async () => (events = await everything(stage.client())).length === heard.length;
  await expect.poll(caughtUp, { timeout: 30_000 }).toBe(true);
  return events;
}

function workspaceOf(session: string): string {
  return join(stage.home, "workspaces", session);
}
