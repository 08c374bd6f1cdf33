import { type EventData, type EventType, type PartId } from "@corral/protocol";
import { expect, test } from "vitest";
import { Transcript, type Watching } from "./transcript.ts";

function stage(more: { colour?: boolean; isTerminal?: boolean } = {}, watching?: Watching) {
  let text = "";
  const out = { write: (piece: string) => void (text += piece), colour: false, columns: 80, ...more };
  const transcript = new Transcript(out, watching);
  let seq = 100;
  const event = <T extends EventType>(type: T, data: EventData<T>) =>
    transcript.event({
      seq: ++seq,
      stream: "ses_a",
      version: 1,
      typeVersion: 1,
      actor: "x",
      approximateCreationTime: "",
      type,
      data,
    });
  const say = (part: PartId, offset: number, piece: string) =>
    transcript.delta({ kind: "text", session: "ses_a", part, offset, text: piece });
  const said = (part: PartId, whole: string) => event("turn.said", { id: "trn_a", part, kind: "text", text: whole });
  const call = (id: `cal_${string}`, tool: string, args: Record<string, unknown>) =>
    event("call.requested", { id, turnId: "trn_a", providerCallId: "x", tool, arguments: args });
  return { event, say, said, call, text: () => text, transcript };
}

const result = {
  exitCode: 0,
  stdout: "",
  stderr: "",
  stdoutBytes: 0,
  stderrBytes: 0,
  timedOut: false,
  shellRespawned: false,
};

test("text appears piece by piece and is not said again by the event that repeats it", () => {
  const { say, said, text } = stage();
  say("prt_a", 0, "Hel");
  expect(text()).toBe("Hel");
  say("prt_a", 3, "lo");
  said("prt_a", "Hello, world");
  expect(text()).toBe("Hello, world\n");
});

test("text without any piece is said whole, reasoning is not said", () => {
  const { said, event, text } = stage();
  event("turn.said", { id: "trn_a", part: "prt_r", kind: "reasoning", text: "hmm" });
  said("prt_a", "Hello");
  expect(text()).toBe("Hello\n");
});

test("a command is shown with its output below, indented and inert", () => {
  const { call, event, text } = stage();
  call("cal_a", "shell", { command: "printf x\necho \u001b[2J\n" });
  event("call.settled", {
    id: "cal_a",
    result: { ...result, exitCode: 3, stdout: "x\u001b[31mred\nb\n", stderr: "oops\n" },
  });
  expect(text()).toBe("$ printf x\n> echo ␛[2J\n  x␛[31mred\n  b\n  oops\n  (exit 3)\n");
});

test("a command that was interrupted is shown with what it had printed", () => {
  const { call, event, text } = stage();
  call("cal_a", "shell", { command: "make" });
  event("call.interrupted", {
    id: "cal_a",
    result: { ...result, exitCode: 143, stdout: "half\n", stderr: "warned\n" },
  });
  expect(text()).toBe("$ make\n  half\n  warned\n  interrupted\n");
});

test("where the whole of an output is that was cut is told below it", () => {
  const { call, event, text } = stage();
  call("cal_a", "shell", { command: "seq 40000" });
  const stdout = { id: "art_a", url: "file:///home/art_a-x.txt", bytes: 100_000 };
  event("call.settled", { id: "cal_a", result: { ...result, stdout: "1\n", artifacts: { stdout } } });
  expect(text()).toBe("$ seq 40000\n  1\n  (the whole of stdout is in file:///home/art_a-x.txt)\n");
});

test("long output is cut, and both outputs get their share", () => {
  const { call, event, text } = stage();
  call("cal_a", "shell", { command: "seq 100" });
  const many = Array.from({ length: 100 }, (_, index) => `${index}`).join("\n");
  event("call.settled", { id: "cal_a", result: { ...result, stdout: many, stderr: "warn" } });
  expect(text()).toBe(
    `$ seq 100\n${[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `  ${n}\n`).join("")}  … 92 more lines\n  warn\n`,
  );
});

test("results of calls side by side stand below their own call", () => {
  const { call, event, text } = stage();
  call("cal_a", "shell", { command: "one" });
  call("cal_b", "look", { at: "sky" });
  event("call.settled", { id: "cal_a", result: { ...result, stdout: "1" } });
  event("call.failed", { id: "cal_b", error: { code: "x", message: "too bright" } });
  expect(text()).toBe('$ one\nlook {"at":"sky"}\n$ one\n  1\nlook {"at":"sky"}\n  failed: too bright\n');
});

test("types not known here are skipped", () => {
  const { transcript, text } = stage();
  transcript.event({
    seq: 1,
    stream: "s",
    version: 1,
    typeVersion: 1,
    actor: "x",
    approximateCreationTime: "",
    type: "pony.born",
    data: 1,
  });
  expect(text()).toBe("");
});

test("events that are no longer kept are told of on a line of their own", () => {
  const { say, transcript, text } = stage();
  say("prt_a", 0, "Hel");
  transcript.gap({ kind: "gap", from: 102, to: 103 });
  expect(text()).toBe("Hel\n(events 102 to 103 are no longer kept)\n");
});

test("what people are to look at is told when something protected was replaced, and no other end of an environment is", () => {
  const { event, text } = stage();
  event("environment.closed", { id: "env_a", reason: "it ended" });
  event("environment.closed", { id: "env_a", reason: ".envrc was replaced: look at it", breach: true });
  expect(text()).toBe("The environment was ended: .envrc was replaced: look at it.\n");
});

test("what reads and edits is told in one line, when it has ended", () => {
  const { call, event, text } = stage();
  call("cal_a", "read", { path: "a.ts" });
  call("cal_b", "edit", { path: "b.ts" });
  expect(text()).toBe("");
  event("call.settled", { id: "cal_a", result: { text: ["x"], of: 3 } });
  event("call.failed", { id: "cal_b", error: { code: "x", message: "it is not there\nlook again" } });
  expect(text()).toBe("read a.ts  1 of 3 lines\nedit b.ts\n  failed: it is not there\n  look again\n");
});

test("of what the operator was asked only the answer is told: the question stands above it", () => {
  const { call, event, text } = stage();
  call("cal_a", "ask", { question: "Which?" });
  event("call.settled", { id: "cal_a", result: { how: "answered", answer: "This one" } });
  expect(text()).toBe("→ This one\n");
});

test("at a terminal words are set off as their marks say, and a colourless one keeps the marks", () => {
  const live = stage({ colour: true, isTerminal: true });
  live.say("prt_a", 0, "a **bo");
  live.said("prt_a", "a **bold** word");
  expect(live.text()).toBe("a \u001b[1mbold\u001b[22m word\n");
  live.call("cal_a", "list", { path: "." });
  live.event("call.settled", { id: "cal_a", result: { count: 3 } });
  live.said("prt_b", "Three.");
  expect(live.text()).toContain("3 entries\u001b[22m\n\nThree.\n");
  const plain = stage({ isTerminal: true });
  plain.said("prt_a", "a **bold** word");
  expect(plain.text()).toBe("a **bold** word\n");
});

test("a reply that ends before it is whole says so", () => {
  const { event, said, text } = stage();
  said("prt_a", "I will now");
  event("turn.replied", { id: "trn_a", finish: "length", usage: { inputTokens: 1, outputTokens: 1 } });
  expect(text()).toMatch(/^I will now\n\(the reply is cut here: /);
});

test("whoever writes in between finds the line of what is under way gone", async () => {
  const { event, call, text, transcript } = stage({ isTerminal: true });
  call("cal_a", "shell", { command: "sleep 9" });
  event("call.started", { id: "cal_a", attempt: 1 });
  await expect.poll(text).toContain("running");
  transcript.makeRoom();
  expect(text().endsWith("\r\u001b[2K")).toBe(true);
  transcript.close();
});

test("what a call printed stands below that call, also when a short one ended in between", () => {
  const { event, call, text } = stage();
  call("cal_a", "shell", { command: "ls" });
  call("cal_b", "read", { path: "a" });
  event("call.settled", { id: "cal_b", result: { text: ["x"], of: 1 } });
  event("call.settled", { id: "cal_a", result: { ...result, stdout: "out\n" } });
  expect(text()).toBe("$ ls\nread a  1 of 1 lines\n$ ls\n  out\n");
});

test("an input from before is shown when it is taken up, as it was edited and with what came along", () => {
  const shot = { name: "shot.png", mediaType: "image/png", reference: "artifact:art_1" };
  const wire = { stream: "ses_a", version: 1, typeVersion: 1, actor: "x", approximateCreationTime: "" };
  const admitted = { id: "inp_a", text: "look", attachments: [shot], delivery: "queue" };
  const before = [
    { ...wire, seq: 1, type: "input.admitted", data: admitted },
    { ...wire, seq: 2, type: "input.edited", data: { id: "inp_a", text: "look here" } },
  ];
  const { event, text } = stage({}, { before });
  event("input.promoted", { id: "inp_a", activityId: "act_a" });
  expect(text()).toBe("> look here\n> [attached: shot.png]\n");
});

test("a call that was requested before the watching began is shown by its id", () => {
  const { event, text } = stage();
  event("call.settled", { id: "cal_a", result: { ...result, stdout: "out\n" } });
  expect(text()).toBe("cal_a\n  out\n");
});

test("a piece that comes after the whole is not said again", () => {
  const { say, said, text } = stage();
  said("prt_a", "Hello");
  say("prt_a", 0, "Hello");
  expect(text()).toBe("Hello\n");
});

test("what is to be known of an end is told below the output: exit code, time, shell, and that nobody watched", () => {
  const { call, event, text } = stage();
  call("cal_a", "shell", { command: "make" });
  const late = { ...result, exitCode: 124, timedOut: true, shellRespawned: true };
  event("call.settled", { id: "cal_a", result: late, recovered: true });
  expect(text()).toBe(
    "$ make\n  (exit 124)\n  (ran out of time)\n  (the shell was started anew)\n" +
      "  (ended while nobody watched; its result was kept)\n",
  );
});
