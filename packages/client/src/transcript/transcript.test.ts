import {
  type Delta,
  event,
  type NewEvent,
  type SessionState,
  type SessionView,
  type WireEvent,
} from "@corral/protocol";
import { describe, expect, test } from "vitest";
import type { Entry } from "./entry.ts";
import {
  type Change,
  dropDone,
  emptyTranscript,
  takeDelta,
  takeEvent,
  takeGap,
  takeView,
  type Transcript,
} from "./transcript.ts";
import { callArtifacts, callNotes, callWords, noteWords, requestText } from "./words.ts";

const since = "2026-01-01T00:00:00.000Z";

let seq = 0;
const stored = ({ type, data }: NewEvent): WireEvent => ({
  seq: ++seq,
  stream: "ses_a",
  version: seq,
  typeVersion: 1,
  actor: "agent",
  approximateCreationTime: since,
  type,
  data,
});

type News = NewEvent | Delta;

const take = (transcript: Transcript, each: News): Change | undefined =>
  "type" in each ? takeEvent(transcript, stored(each)) : takeDelta(transcript, each);

function fold(news: readonly News[], transcript: Transcript = emptyTranscript()): Transcript {
  for (const each of news) take(transcript, each);
  return transcript;
}

const entriesOf = (...news: News[]): readonly Entry[] => fold(news).entries;
const notesOf = (...news: News[]): readonly string[] =>
  entriesOf(...news).flatMap((entry) => (entry.kind === "note" ? [noteWords(entry.note)] : []));
const changesOf = (...news: News[]) => {
  const transcript = emptyTranscript();
  return news.map((each) => take(transcript, each));
};

const text = (offset: number, piece: string): Delta => ({
  kind: "text",
  session: "ses_a",
  part: "prt_a",
  offset,
  text: piece,
});
const printed = (kind: "stdout" | "stderr", offset: number, piece: string): Delta => ({
  kind,
  session: "ses_a",
  part: "cal_a",
  offset,
  text: piece,
});
const said = (whole: string, more: { kind?: "text" | "reasoning"; cut?: boolean } = {}) =>
  event("turn.said", { id: "trn_a", part: "prt_a", kind: "text", text: whole, ...more });
const part = (whole: string, more: object = {}) => ({
  kind: "text",
  id: "prt_a",
  saidIn: { turn: undefined, attempt: 0 },
  output: { text: whole, end: whole.length },
  isGrowing: false,
  isCut: false,
  ...more,
});

const requested = (tool: string, given: Record<string, unknown>) =>
  event("call.requested", { id: "cal_a", turnId: "trn_a", providerCallId: "p", tool, arguments: given });
const shell = requested("shell", { command: "ls\n" });
const started = (attempt = 1) => event("call.started", { id: "cal_a", attempt });
const result = {
  exitCode: 0,
  stdout: "a\n",
  stderr: "",
  stdoutBytes: 2,
  stderrBytes: 0,
  timedOut: false,
  shellRespawned: false,
};
const call = (more: object = {}) => ({
  kind: "call",
  id: "cal_a",
  saidIn: { turn: "trn_a", attempt: 0 },
  tool: "shell",
  arguments: { command: "ls\n" },
  malformed: undefined,
  providerCallId: "p",
  isRunning: false,
  stdout: { text: "", end: 0 },
  stderr: { text: "", end: 0 },
  end: undefined,
  ...more,
});

describe("what is said", () => {
  test("grows by pieces and is replaced by the whole", () => {
    expect(entriesOf(text(0, "Hel"), text(3, "lo"))).toEqual([part("Hello", { isGrowing: true })]);
    expect(entriesOf(text(0, "Hel"), said("Hello!"))).toEqual([part("Hello!")]);
    expect(entriesOf(said("Hello!"))).toEqual([part("Hello!")]);
  });

  test("is not changed by a piece that comes again or too late", () => {
    expect(entriesOf(text(0, "Hello"), text(0, "Hel"), text(3, "lo, you"))).toEqual([
      part("Hello, you", { isGrowing: true }),
    ]);
    expect(entriesOf(said("Hello"), text(5, " again"))).toEqual([part("Hello")]);
  });

  test("says that it was cut, and that it was only thought", () => {
    expect(entriesOf(said("Hel", { cut: true }))).toEqual([part("Hel", { isCut: true })]);
    expect(entriesOf(said("Hm", { kind: "reasoning" }))).toEqual([part("Hm", { kind: "reasoning" })]);
  });

  test("goes when its attempt is given up without closing it", () => {
    const again = event("turn.dispatched", { id: "trn_a", attempt: 2 });
    expect(entriesOf(text(0, "Hel"), again)).toMatchObject([{ note: { about: "asked-again", attempt: 2 } }]);
    expect(entriesOf(text(0, "Hel"), event("turn.settled", { id: "trn_a", outcome: "failed" }))).toEqual([]);
  });

  test("is there also when it is empty, for it was part of the reply", () => {
    expect(entriesOf(said(""))).toEqual([part("")]);
  });
});

describe("a call", () => {
  test("shows what it prints while it runs, and then what it printed as a whole", () => {
    const running = [shell, started(), printed("stdout", 0, "a"), printed("stderr", 0, "oh")];
    expect(entriesOf(...running)).toEqual([
      call({ isRunning: true, stdout: { text: "a", end: 1 }, stderr: { text: "oh", end: 2 } }),
    ]);
    expect(entriesOf(...running, event("call.settled", { id: "cal_a", result }))).toEqual([
      call({ stdout: { text: "a\n", end: 2 }, end: { kind: "settled", result, recovered: false } }),
    ]);
  });

  test("tells of its exit code, its time limit, a lost shell and a result kept over a crash", () => {
    const bad = { ...result, stdout: "", exitCode: 137, timedOut: true, shellRespawned: true };
    const [ended] = entriesOf(shell, started(), event("call.settled", { id: "cal_a", result: bad, recovered: true }));
    if (ended?.kind !== "call") throw new Error("no call");
    expect([callWords(ended), callNotes(ended.end)]).toEqual([
      { word: "exit 137" },
      ["ran out of time", "the shell was started anew", "ended while nobody watched; its result was kept"],
    ]);
  });

  test("names the whole of an output that was cut", () => {
    const stdout = { id: "art_a", url: "file:///art_a", bytes: 100_000 };
    const cut = { ...result, artifacts: { stdout } };
    expect(callArtifacts({ kind: "settled", result: cut, recovered: false })).toEqual([
      { stream: "stdout", id: "art_a", url: "file:///art_a", bytes: 100_000 },
    ]);
  });

  test("of another tool shows its arguments and its result as they are", () => {
    expect(entriesOf(requested("look", { at: 1 }), event("call.settled", { id: "cal_a", result: "seen" }))).toEqual([
      call({
        tool: "look",
        arguments: { at: 1 },
        stdout: { text: "seen", end: 4 },
        end: { kind: "settled", result: "seen", recovered: false },
      }),
    ]);
    expect(requestText("look", { at: 1 })).toBe('{\n  "at": 1\n}');
    expect(callWords({ end: { kind: "settled", result: "seen", recovered: false }, isRunning: false })).toEqual({
      word: "done",
    });
  });

  test("that failed or was interrupted says so and keeps what it printed", () => {
    const error = { code: "x", message: "No such tool" };
    expect(entriesOf(shell, event("call.failed", { id: "cal_a", error }))).toEqual([
      call({ end: { kind: "failed", message: "No such tool" } }),
    ]);
    expect(entriesOf(shell, started(), event("call.interrupted", { id: "cal_a", result }))).toEqual([
      call({ stdout: { text: "a\n", end: 2 }, end: { kind: "interrupted" } }),
    ]);
  });

  test("of unknown end waits for a decision, and begins anew when it is retried", () => {
    const unknown = [
      shell,
      started(),
      printed("stdout", 0, "half"),
      event("call.unknown", { id: "cal_a", reason: "?" }),
    ];
    const decided = event("call.decided", { id: "cal_a", decision: "retry" });
    const half = { stdout: { text: "half", end: 4 } };
    expect(entriesOf(...unknown)).toEqual([
      call({ ...half, end: { kind: "unknown", reason: "?", decision: undefined } }),
    ]);
    expect(entriesOf(...unknown, decided)).toEqual([
      call({ ...half, end: { kind: "unknown", reason: "?", decision: "retry" } }),
    ]);
    expect(entriesOf(...unknown, decided, started(2), printed("stdout", 0, "new"))).toEqual([
      call({ isRunning: true, stdout: { text: "new", end: 3 } }),
    ]);
  });
});

test("a call whose request is no longer kept is known by its id", () => {
  const before = { tool: "", arguments: {}, providerCallId: "", saidIn: { turn: undefined, attempt: 0 } };
  expect(entriesOf(event("call.failed", { id: "cal_a", error: { code: "x", message: "no" } }))).toEqual([
    call({ ...before, end: { kind: "failed", message: "no" } }),
  ]);
  expect(entriesOf(event("call.decided", { id: "cal_a", decision: "retry" }))).toEqual([]);
});

describe("the session", () => {
  const admitted = event("input.admitted", { id: "inp_a", text: "do it", attachments: [], delivery: "steer" });
  const queued = event("input.admitted", { id: "inp_b", text: "later", attachments: [], delivery: "queue" });
  const promoted = event("input.promoted", { id: "inp_a", activityId: "act_a" });
  const settled = (outcome: "done" | "failed" | "interrupted", error?: { code: string; message: string }) =>
    event("activity.settled", { id: "act_a", outcome, ...(error === undefined ? {} : { error }) });
  const viewOf = (state: SessionState): SessionView => ({
    id: "ses_a",
    projectId: "prj_a",
    title: "",
    agent: "main",
    kind: "loop",
    model: "rehearsal/x",
    mode: "auto",
    environment: { kind: "jail", network: "off" },
    workspace: "copy",
    state,
    inbox: { waiting: 0, isParked: false },
    isArchived: false,
    seq,
  });
  const stateAfter = (...news: News[]) => fold(news).state;

  test("shows an input as waiting until it is taken up", () => {
    const input = { kind: "input", id: "inp_a", text: "do it", attachments: [] };
    expect(entriesOf(admitted)).toEqual([{ ...input, isWaiting: true }]);
    expect(entriesOf(admitted, promoted)).toEqual([{ ...input, isWaiting: false }]);
  });

  test("is in the state that its last event left it in", () => {
    const thinking = { state: "thinking", since, activityId: "act_a" };
    const unknown = event("call.unknown", { id: "cal_a", reason: "it was cut off" });
    const waiting = event("activity.waiting", { id: "act_a", on: "recovery" });
    expect(stateAfter()).toEqual({ state: "idle", since: "" });
    expect(stateAfter(event("activity.opened", { id: "act_a" }))).toEqual(thinking);
    expect(stateAfter(promoted, unknown, waiting)).toEqual({
      state: "waiting",
      since,
      activityId: "act_a",
      on: "recovery",
      calls: ["cal_a"],
      questions: [],
    });
    expect(stateAfter(promoted, unknown, waiting, event("activity.resumed", { id: "act_a" }))).toEqual(thinking);
    expect(stateAfter(promoted, settled("done"))).toEqual({ state: "idle", since });
    expect(stateAfter(promoted, settled("failed", { code: "x", message: "no key" }))).toEqual({
      state: "failed",
      since,
      activityId: "act_a",
      message: "no key",
    });
    const wish = event("activity.interrupt-requested", { id: "act_a" });
    const parked = fold([promoted, wish, queued, settled("interrupted")]);
    expect(parked.state).toEqual({ state: "parked", since, inputs: 1 });
    expect(fold([event("input.cancelled", { id: "inp_b" })], parked).state).toEqual({ state: "idle", since });
  });

  test("names what came along with an input, also after it was edited", () => {
    const shot = { name: "shot.png", mediaType: "image/png", reference: "artifact:art_1" };
    const shown = event("input.admitted", { id: "inp_a", text: "look", attachments: [shot], delivery: "steer" });
    const edited = event("input.edited", { id: "inp_a", text: "look here" });
    expect(entriesOf(shown, edited)).toMatchObject([{ text: "look here", attachments: [shot] }]);
  });

  test("forgets what was cancelled, and shows what was made of what waits", () => {
    const edited = event("input.edited", { id: "inp_a", text: "do that" });
    expect(entriesOf(admitted, queued, edited, event("input.cancelled", { id: "inp_b" }))).toEqual([
      { kind: "input", id: "inp_a", text: "do that", attachments: [], isWaiting: true },
    ]);
  });

  test("is being interrupted from the wish until the end, which is noted", () => {
    const wish = event("activity.interrupt-requested", { id: "act_a" });
    expect(fold([promoted, wish]).isInterrupting).toBe(true);
    const { isInterrupting, entries } = fold([promoted, wish, settled("interrupted")]);
    expect({ isInterrupting, entries }).toMatchObject({
      isInterrupting: false,
      entries: [{ kind: "note", note: { about: "interrupted" } }],
    });
  });

  test("tells why it failed and what to do", () => {
    const error = { code: "provider.refused", message: "no key", hint: "set one" };
    expect(entriesOf(event("activity.settled", { id: "act_a", outcome: "failed", error }))).toMatchObject([
      { kind: "note", note: { about: "failed", message: "no key", hint: "set one" } },
    ]);
  });

  test("tells what to look at when something protected was replaced, and of no other end of an environment", () => {
    const closed = (reason: string, more = {}) => event("environment.closed", { id: "env_a", reason, ...more });
    expect(notesOf(closed("it ended"), closed(".envrc was replaced", { breach: true }))).toEqual([
      "the environment was ended: .envrc was replaced",
    ]);
  });

  test("tells what its copy lacks, and nothing of a copy that lacks nothing", () => {
    const prepared = (more: object) =>
      event("workspace.prepared", { path: "/w", branch: "b", base: "c", readable: [], variables: {}, ...more });
    const lacks = { submodules: ["lib"], lfs: true };
    const skipped = [{ path: "big.bin", why: "too large" }];
    expect(notesOf(prepared({}), prepared({ lacks: { submodules: [], lfs: false }, skipped: [] }))).toEqual([]);
    expect(notesOf(prepared({ lacks, skipped }))).toEqual([
      "submodules are not in the copy: lib\n" +
        "files kept by Git LFS are in the copy as pointers, without their content\n" +
        "uncommitted files that did not come along: big.bin (too large)",
    ]);
  });

  test("tells of events that are no longer kept, and asks what they told", () => {
    const view = viewOf({ state: "idle", since });
    const transcript = fold([admitted, promoted, shell, started(), text(0, "half")]);
    const [from, to] = [seq + 1, (seq += 3)];
    const gap = { kind: "gap", from, to } as const;
    takeGap(transcript, gap);
    takeGap(transcript, gap);
    expect(transcript).toMatchObject({
      cursor: to,
      state: { state: "thinking" },
      entries: [{ kind: "input", isWaiting: false }, call({}), { kind: "note", note: { about: "gap", from, to } }],
    });
    takeView(transcript, view, gap);
    expect(transcript).toMatchObject({ state: { state: "idle" }, projectId: "prj_a", model: "rehearsal/x" });
  });

  test("knows better by what came behind the gap than by what was asked about it", () => {
    const gap = { kind: "gap", from: seq + 1, to: ++seq } as const;
    const transcript = emptyTranscript();
    takeGap(transcript, gap);
    fold([promoted], transcript);
    takeView(transcript, viewOf({ state: "idle", since }), gap);
    expect(transcript.state).toEqual({ state: "thinking", since, activityId: "act_a" });
  });

  test("takes each event once and skips those of a newer daemon", () => {
    const transcript = emptyTranscript();
    const once = stored(admitted);
    const newer = { ...stored(admitted), type: "pony.born", data: {} };
    for (const each of [once, once, newer]) takeEvent(transcript, each);
    expect({ cursor: transcript.cursor, count: transcript.entries.length }).toEqual({ cursor: newer.seq, count: 1 });
  });
});

test("a reply that ends before it is whole says so", () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const replied = (finish: string) => event("turn.replied", { id: "trn_a", finish, usage });
  expect(notesOf(said("I will"), replied("stop"), replied("length"))).toEqual([
    expect.stringMatching(/^the reply is cut here/),
  ]);
});

describe("whoever prints as it comes", () => {
  test("hears of each piece of text once, however it comes", () => {
    const changes = changesOf(text(0, "Hel"), text(0, "Hell"), said("Hello!"), text(5, "!"));
    expect(changes.map((change) => change && "fresh" in change && [change.what, change.fresh])).toEqual([
      ["grown", "Hel"],
      ["grown", "l"],
      ["closed", "o!"],
      undefined,
    ]);
  });

  test("hears of what was added, promoted, started and ended, and of nothing else", () => {
    const admitted = event("input.admitted", { id: "inp_a", text: "do it", attachments: [], delivery: "steer" });
    const asked = event("question.asked", {
      id: "que_a",
      about: { kind: "host", host: "a.org", port: 443 },
      text: "?",
      choices: [],
      takesText: false,
    });
    const changes = changesOf(
      admitted,
      event("input.edited", { id: "inp_a", text: "do that" }),
      event("input.promoted", { id: "inp_a", activityId: "act_a" }),
      shell,
      started(),
      asked,
      event("question.expired", { id: "que_a" }),
      event("call.declined", { id: "cal_a", by: "rules", reason: "no" }),
      event("activity.settled", { id: "act_a", outcome: "done" }),
    );
    expect(changes.map((change) => change && `${change.entry.kind} ${change.what}`)).toEqual([
      "input added",
      undefined,
      "input promoted",
      "call added",
      "call started",
      "question added",
      "question ended",
      "call ended",
      undefined,
    ]);
  });

  test("lets go of what is done and still hears of what is not", () => {
    const transcript = fold([
      event("input.admitted", { id: "inp_b", text: "later", attachments: [], delivery: "queue" }),
      said("Hello"),
      shell,
      started(),
      event("call.settled", { id: "cal_a", result }),
    ]);
    dropDone(transcript);
    expect(transcript.entries).toMatchObject([{ id: "inp_b" }]);
    expect(take(transcript, event("input.promoted", { id: "inp_b", activityId: "act_b" }))).toMatchObject({
      what: "promoted",
      entry: { text: "later" },
    });
  });
});

test("what the model said is known by turn and attempt, with what was said before it and what it took", () => {
  const usage = { inputTokens: 7, outputTokens: 1 };
  const { turns, entries } = fold([
    event("input.admitted", { id: "inp_a", text: "do it", attachments: [], delivery: "steer" }),
    event("input.promoted", { id: "inp_a", activityId: "act_a" }),
    event("turn.prepared", { id: "trn_a", activityId: "act_a", model: "m", requestHash: "h" }),
    event("turn.dispatched", { id: "trn_a", attempt: 1 }),
    event("turn.attempt-failed", { id: "trn_a", attempt: 1, error: { code: "x", message: "no" } }),
    event("turn.dispatched", { id: "trn_a", attempt: 2 }),
    said("Hello"),
    event("turn.replied", { id: "trn_a", finish: "stop", usage }),
  ]);
  expect(turns).toEqual([
    { id: "trn_a", isWhole: true, prompt: "do it", attempt: 2, reply: { finish: "stop", usage } },
  ]);
  expect(entries.at(-1)).toEqual(part("Hello", { saidIn: { turn: "trn_a", attempt: 2 } }));
});

test("a long session is folded in time that grows with it and not faster", () => {
  const round = (at: number): News[] => [
    event("turn.prepared", { id: `trn_${at}`, activityId: "act_a", model: "m", requestHash: "h" }),
    event("turn.dispatched", { id: `trn_${at}`, attempt: 1 }),
    { kind: "text", session: "ses_a", part: `prt_${at}`, offset: 0, text: "Hel" },
    event("turn.said", { id: `trn_${at}`, part: `prt_${at}`, kind: "text", text: "Hello" }),
    event("turn.settled", { id: `trn_${at}`, outcome: "replied" }),
  ];
  const looks = (rounds: number): number => {
    let count = 0;
    const counted = (list: Entry[]) =>
      new Proxy(list, { get: (entries, key, self) => (count++, Reflect.get(entries, key, self) as unknown) });
    let entries = counted([]);
    const transcript = Object.defineProperty(emptyTranscript(), "entries", {
      get: () => entries,
      set: (list: Entry[]) => {
        entries = counted(list);
      },
    });
    fold(Array.from({ length: rounds }, (_, at) => round(at)).flat(), transcript);
    return count / rounds;
  };
  expect(looks(400)).toBeLessThan(looks(40) * 1.5);
});
