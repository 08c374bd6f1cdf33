import { event, type SessionView } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";

let stage: Stage;
let stand: ReturnType<typeof testWorld>;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
});
afterEach(() => stage.close());

const activity = "act_a";
const settled = (
  outcome: "done" | "failed" | "interrupted",
  error?: { code: string; message: string; hint?: string },
) => event("activity.settled", { id: activity, outcome, ...(error === undefined ? {} : { error }) });

/** The input is taken up, and then this happens. */
function play(...events: Parameters<Stage["tell"]> extends [string, ...infer E] ? E : never): void {
  stage.onInput = (session, input) => {
    stage.tell(
      session.id,
      event("activity.opened", { id: activity }),
      event("input.promoted", { id: input.id, activityId: activity }),
      ...events,
    );
  };
}

const corral = (...words: string[]) => dispatch(words, stand.world);
const said = (text: string) => event("turn.said", { id: "trn_a", part: "prt_a", kind: "text", text });
const onlySession = () => stage.sessions[0] as SessionView;

test("a run registers the project, opens a session, sends the prompt and shows what happens", async () => {
  play(
    event("workspace.prepared", { path: "/w/1", branch: "corral/1", base: "abc", readable: [], variables: {} }),
    said("Done."),
    settled("done"),
  );
  expect(await corral("run", "--model", "rehearsal/x", "fix", "it")).toBe(0);
  expect(stand.written).toEqual({ out: "Done.\n", err: `session ${onlySession().id}\nworkspace /w/1\n` });
  expect(stage.log.find(({ type }) => type === "input.admitted")?.data).toMatchObject({ text: "fix it" });
  expect(onlySession().model).toBe("rehearsal/x");
  expect(stage.asked).toEqual([
    "GET /healthz",
    "POST /api/projects",
    "POST /api/sessions/begin",
    "GET /api/sessions/ID/events",
  ]);
});

test("text shows while it comes, before any event repeats it", async () => {
  play();
  const running = corral("run", "go");
  await expect.poll(() => stage.streams).toBe(1);
  stage.emit({ kind: "text", session: onlySession().id, part: "prt_a", offset: 0, text: "Thin" });
  await expect.poll(() => stand.written.out).toBe("Thin");
  stage.tell(onlySession().id, said("Thinking."), settled("done"));
  expect(await running).toBe(0);
  expect(stand.written.out).toBe("Thinking.\n");
});

test("a failure exits with 1 and says why, inert", async () => {
  play(settled("failed", { code: "provider.refused", message: "No \u001b[2J credit", hint: "Pay" }));
  expect(await corral("run", "go")).toBe(1);
  expect(stand.written.err).toContain("error: No ␛[2J credit\nhint: Pay\n");
});

test("waiting for the operator exits with 3 and says on what", async () => {
  play(
    event("call.unknown", { id: "cal_a", reason: "it was cut" }),
    event("activity.waiting", { id: activity, on: "recovery" }),
  );
  expect(await corral("run", "go")).toBe(3);
  expect(stand.written.err).toContain("waits for you: it is unknown how cal_a ended");
});

test("the end of another activity is not the end", async () => {
  play(event("activity.settled", { id: "act_other", outcome: "failed" }), settled("done"));
  expect(await corral("run", "go")).toBe(0);
});

test("--json prints every event of the session as stored and nothing else", async () => {
  play(said("\u009bDone."), settled("done"));
  expect(await corral("run", "--json", "go")).toBe(0);
  const lines = stand.written.out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(stage.log.filter(({ stream }) => stream === onlySession().id));
  expect(stand.written.out).not.toContain("\u009b");
});

test("--json --deltas prints live pieces too", async () => {
  play();
  const running = corral("run", "--json", "--deltas", "go");
  await expect.poll(() => stage.streams).toBe(1);
  const delta = { kind: "text", session: onlySession().id, part: "prt_a", offset: 0, text: "Thin" } as const;
  stage.emit(delta);
  stage.tell(onlySession().id, settled("done"));
  expect(await running).toBe(0);
  expect(stand.written.out.split("\n")).toContain(JSON.stringify(delta));
});

test("the prompt comes from stdin when it is piped in or asked for", async () => {
  for (const words of [["run"], ["run", "-"]]) {
    const piped = testWorld("from\na pipe\n");
    await stage.open(piped.world.home);
    play(settled("done"));
    expect(await dispatch(words, piped.world)).toBe(0);
    expect(stage.log.findLast(({ type }) => type === "input.admitted")?.data).toMatchObject({ text: "from\na pipe" });
  }
});

test("words after -- are the prompt's, whatever they look like", async () => {
  play(settled("done"));
  expect(await corral("run", "--", "explain", "--json")).toBe(0);
  expect(stage.log.find(({ type }) => type === "input.admitted")?.data).toMatchObject({ text: "explain --json" });
});

test("--detach prints the session's id and leaves", async () => {
  expect(await corral("run", "--detach", "go")).toBe(0);
  expect(stand.written).toEqual({ out: `${onlySession().id}\n`, err: "" });
});

test("a prompt that is too long is refused before a session is made", async () => {
  expect(await corral("run", "x".repeat(1_000_001))).toBe(2);
  expect(stand.written.err).toContain("the limit is 1000000");
  expect(stage.sessions).toEqual([]);
});

test("the first Ctrl-C interrupts the activity and waits for its end", async () => {
  play();
  stage.onInterrupt = ({ id }) => stage.tell(id, settled("interrupted"));
  const running = corral("run", "go");
  await expect.poll(() => stage.streams).toBe(1);
  stand.pressCtrlC();
  expect(await running).toBe(1);
  expect(stand.written.err).toContain("interrupting; Ctrl-C again leaves");
  expect(stage.asked).toContain("POST /api/sessions/ID/interrupt");
});

test("a Ctrl-C pressed before the input was taken up counts when its activity opens", async () => {
  const running = corral("run", "go");
  await expect.poll(() => stage.streams).toBe(1);
  stand.pressCtrlC();
  const interrupts = () => stage.asked.filter((each) => each === "POST /api/sessions/ID/interrupt").length;
  await expect.poll(interrupts).toBe(1);
  stage.onInterrupt = ({ id }) => stage.tell(id, settled("interrupted"));
  const { id } = onlySession();
  const admitted = stage.log.find(({ type }) => type === "input.admitted")?.data as { id: `inp_${string}` };
  stage.tell(
    id,
    event("activity.opened", { id: "act_a" }),
    event("input.promoted", { id: admitted.id, activityId: "act_a" }),
  );
  expect(await running).toBe(1);
  expect(interrupts()).toBe(2);
});

test("the second Ctrl-C leaves the session working", async () => {
  play();
  const running = corral("run", "go");
  await expect.poll(() => stage.streams).toBe(1);
  stand.pressCtrlC();
  stand.pressCtrlC();
  expect(await running).toBe(130);
  expect(stand.written.err).toContain(`corral attach ${onlySession().id}`);
});

test("a daemon that was killed and came back elsewhere is found, and nothing is shown twice", async () => {
  play(said("Before."));
  const running = corral("run", "go");
  await expect.poll(() => stand.written.out).toBe("Before.\n");
  stage.close();
  await expect.poll(() => stand.written.err).toContain("connection to the daemon lost");
  stage.token = "t1";
  await stage.open(stand.world.home);
  stage.tell(
    onlySession().id,
    event("turn.said", { id: "trn_a", part: "prt_b", kind: "text", text: "After." }),
    settled("done"),
  );
  expect(await running).toBe(0);
  expect(stand.written.out).toBe("Before.\nAfter.\n");
});

test.each(["run", "steer", "queue"])(
  "what was said by %s, and taken by a daemon that could not say so, is said again and counts once",
  async (command) => {
    await corral("run", "--detach", "before");
    stage.lostAnswers = 1;
    const admitted = () =>
      stage.log.filter(({ type }) => type === "input.admitted").map(({ data }) => (data as { text: string }).text);
    expect(await corral(...(command === "run" ? ["run", "--detach"] : [command, "@last"]), "once")).toBe(0);
    expect(admitted()).toEqual(["before", "once"]);
    expect(stage.asked.filter((route) => /POST .*(?:begin|inputs)$/.test(route))).toHaveLength(3);
    expect(stage.sessions).toHaveLength(command === "run" ? 2 : 1);
  },
);

test("sessions are listed in lines, or as JSON", async () => {
  await corral("run", "--detach", "go");
  stand.written.out = "";
  expect(await corral("sessions")).toBe(0);
  expect(stand.written.out).toMatch(new RegExp(`^${onlySession().id} +idle 3m +rehearsal/any`));
  stand.written.out = "";
  expect(await corral("sessions", "--json")).toBe(0);
  expect(JSON.parse(stand.written.out)).toEqual(onlySession());
});

test("the dashboard's link is alone on stdout, or in a line of JSON", async () => {
  const url = `${stage.url}/#code=c0`;
  expect(await corral("dashboard")).toBe(0);
  expect(stand.written).toEqual({ out: `${url}\n`, err: "Open it within 60 seconds. It works once.\n" });
  stand.written.out = "";
  expect(await corral("dashboard", "--json")).toBe(0);
  expect(stand.written.out).toBe(`${JSON.stringify({ url })}\n`);
});

test("events are printed to the end, or followed until Ctrl-C", async () => {
  await corral("run", "--detach", "go");
  stand.written.out = "";
  expect(await corral("events", "--after", "1")).toBe(0);
  expect(
    stand.written.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).seq),
  ).toEqual([2]);
  stand.written.out = "";
  const following = corral("events", "--session", onlySession().id, "--follow");
  await expect.poll(() => stand.written.out.split("\n").length).toBe(3);
  stage.tell(onlySession().id, said("x"));
  await expect.poll(() => stand.written.out.split("\n").length).toBe(4);
  stand.pressCtrlC();
  expect(await following).toBe(0);
});

test("what the daemon refuses is said in its words", async () => {
  expect(await corral("events", "--session", "ses_none", "--follow")).toBe(1);
  expect(stand.written).toEqual({
    out: "",
    err: "error: There is no such session\nhint: `corral sessions` lists the sessions\n",
  });
});

/** The input is taken up and the rest happens, then everything up to `trimmed` events before the end is no longer kept. */
function forgetting(kept: number, ...events: Parameters<Stage["tell"]> extends [string, ...infer E] ? E : never): void {
  play(...events);
  const act = stage.onInput;
  stage.onInput = (session, input) => {
    act(session, input);
    stage.trimmed = stage.log.length - kept;
  };
}

test("events that are no longer kept are told of, and the run ends by what comes behind them", async () => {
  forgetting(2, said("unheard"), said("Done."), settled("done"));
  expect(await corral("run", "go")).toBe(0);
  expect(stand.written.out).toBe("(events 1 to 5 are no longer kept)\nDone.\n");
});

test.each([
  ["idle", { state: "idle" }, 0, ""],
  ["failed", { state: "failed", activityId: activity, message: "no key" }, 1, "error: no key\n"],
  ["waiting", { state: "waiting", activityId: activity, on: "continue" }, 3, "waits for you"],
] as const)("an end that is no longer kept is asked for: the session is %s", async (_, state, code, complaint) => {
  forgetting(0, settled("done"));
  const act = stage.onInput;
  stage.onInput = (session, input) => {
    act(session, input);
    Object.assign(session, { state });
  };
  expect(await corral("run", "--json", "go")).toBe(code);
  expect(stand.written.out).toBe('{"kind":"gap","from":1,"to":5}\n');
  expect(stand.written.err).toContain(complaint);
});

test("events prints a line in the place of those that are no longer kept, followed or not", async () => {
  stage.tell("ses_a", said("a"), said("b"), said("c"));
  stage.trimmed = 2;
  expect(await corral("events")).toBe(0);
  const printed = stand.written.out;
  expect(printed.split("\n", 2).map((line) => JSON.parse(line))).toEqual([
    { kind: "gap", from: 1, to: 2 },
    stage.log[2],
  ]);
  const following = corral("events", "--follow");
  await expect.poll(() => stand.written.out).toBe(printed + printed);
  stand.pressCtrlC();
  expect(await following).toBe(0);
});
