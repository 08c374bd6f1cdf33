import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, type NewEvent, rehearsalScript } from "@corral/protocol";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";
import { modelNamed } from "./model.ts";

let stage: Stage;
let stand: ReturnType<typeof testWorld>;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
});
afterEach(() => stage.close());

const corral = (...words: string[]) => dispatch(words, stand.world);
const usage = { inputTokens: 3, outputTokens: 2 };
const turn = (n: number): [NewEvent, NewEvent] => [
  event("turn.prepared", { id: `trn_${n}`, activityId: "act_a", model: "x/y", requestHash: "" }),
  event("turn.dispatched", { id: `trn_${n}`, attempt: 1 }),
];
let parts = 0;
const say = (n: number, text: string, kind: "text" | "reasoning" = "text") =>
  event("turn.said", { id: `trn_${n}`, part: `prt_${++parts}`, kind, text });
const replied = (n: number) => event("turn.replied", { id: `trn_${n}`, finish: "stop", usage });

async function played(...events: NewEvent[]): Promise<string> {
  stage.onInput = (session, input) =>
    stage.tell(session.id, event("input.promoted", { id: input.id, activityId: "act_a" }), ...events);
  await corral("run", "--detach", "fix it");
  stand.written.out = "";
  return stage.sessions[0]!.id;
}

async function recorded(...words: string[]): Promise<unknown> {
  expect(await corral("rehearsal", "record", ...words)).toBe(0);
  return rehearsalScript.parse(JSON.parse(stand.written.out));
}

test("a session is recorded as what its model said, turn by turn", async () => {
  const command = { command: "ls" };
  const session = await played(
    ...turn(1),
    say(1, "hm", "reasoning"),
    say(1, "Looking."),
    event("call.requested", { id: "cal_1", turnId: "trn_1", providerCallId: "one", tool: "shell", arguments: command }),
    event("turn.replied", { id: "trn_1", finish: "tool-calls", usage }),
    event("call.settled", { id: "cal_1", result: {} }),
    event("turn.settled", { id: "trn_1", outcome: "replied" }),
    ...turn(2),
    say(2, "Done."),
    event("turn.replied", { id: "trn_2", finish: "stop", usage }),
  );
  const call = { call: "shell", id: "one", arguments: command };
  const turns = [
    { reply: [{ think: "hm" }, { say: "Looking." }, call], finish: "tool-calls", usage },
    { reply: [{ say: "Done." }], finish: "stop", usage },
  ];
  expect(await recorded(session)).toEqual({ turns });
  stand.written.out = "";
  expect(await recorded(session, "--expect")).toEqual({ turns: [{ expect: "fix it", ...turns[0] }, turns[1]] });
});

test("attempts that failed are recorded as failures; what a crash cut off was said to nobody", async () => {
  const error = (code: string) => ({ code, message: `told ${code}` });
  const malformed = 'The arguments were not valid JSON: {"command": "l';
  const call = {
    id: "cal_1",
    turnId: "trn_1",
    providerCallId: "one",
    tool: "shell",
    arguments: {},
    malformed,
  } as const;
  const session = await played(
    ...turn(1),
    event("turn.attempt-failed", { id: "trn_1", attempt: 1, error: error("provider.unavailable") }),
    event("turn.dispatched", { id: "trn_1", attempt: 2 }),
    say(1, "One"),
    event("turn.attempt-failed", { id: "trn_1", attempt: 2, error: error("provider.unavailable") }),
    event("turn.dispatched", { id: "trn_1", attempt: 3 }),
    say(1, "lost"),
    event("turn.dispatched", { id: "trn_1", attempt: 4 }),
    event("call.requested", call),
    event("turn.settled", { id: "trn_1", outcome: "cut" }),
    ...turn(2),
    event("turn.attempt-failed", { id: "trn_2", attempt: 1, error: error("provider.refused") }),
    event("turn.settled", { id: "trn_2", outcome: "failed" }),
    ...turn(3),
  );
  expect(await recorded(session)).toEqual({
    turns: [
      {
        failures: [
          { fail: "error", message: "told provider.unavailable" },
          { fail: "cut", message: "told provider.unavailable", after: [{ say: "One" }] },
        ],
        reply: [{ call: "shell", id: "one", malformed: '{"command": "l' }],
      },
      { failures: [{ fail: "refused", message: "told provider.refused" }] },
    ],
  });
});

test("what was edited before it was taken up is expected as it was then", async () => {
  stage.onInput = ({ id: session }, { id }) =>
    stage.tell(
      session,
      event("input.edited", { id, text: "fix that" }),
      event("input.promoted", { id, activityId: "act_a" }),
      ...turn(1),
      say(1, "Done."),
    );
  await corral("run", "--detach", "fix it");
  stand.written.out = "";
  expect(await recorded(stage.sessions[0]!.id, "--expect")).toEqual({
    turns: [{ expect: "fix that", reply: [{ say: "Done." }] }],
  });
});

test("what is no longer kept is told of, and the rest recorded", async () => {
  const session = await played(...turn(1), say(1, "trimmed"), replied(1), ...turn(2), say(2, "kept"));
  stage.trimmed = stage.log.findIndex(({ type, data }) => type === "turn.said" && "text" in (data as object)) + 1;
  expect(await recorded(session)).toEqual({ turns: [{ reply: [{ say: "kept" }] }] });
  expect(stand.written.err).toContain("are no longer stored");
});

test("a hold is released and held again by its name", async () => {
  const file = join(stand.world.home, "rehearsals", "released", "curtain");
  expect(await corral("rehearsal", "release", "curtain")).toBe(0);
  expect(existsSync(file)).toBe(true);
  expect(await corral("rehearsal", "hold", "curtain")).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(await corral("rehearsal", "release", "../curtain")).toBe(2);
});

test("what a script may hold is printed as a JSON schema", async () => {
  expect(await corral("rehearsal", "schema")).toBe(0);
  expect(JSON.parse(stand.written.out)).toMatchObject({ type: "object", required: ["turns"] });
});

test("a script named by its path is found from here, and no other model is touched", () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-script-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "play.json"), "{}");
  const names = [
    "rehearsal/play.json",
    "rehearsal/./play.json",
    "rehearsal/none.json",
    "rehearsal/play",
    "x/play.json",
  ];
  const file = `rehearsal/${folder}/play.json`;
  expect(names.map((name) => modelNamed(name, folder))).toEqual([file, file, ...names.slice(2)]);
  expect(modelNamed(undefined, folder)).toBeUndefined();
});
