import { event, type NewEvent, newId } from "@corral/protocol";
import { expect, test } from "vitest";
import { type Difference, differences, pieces } from "./compare.ts";
import { performanceOf } from "./performance.ts";

/** A session with one of everything; each time it is another, with other ids and at another time. */
function session(ms: number): NewEvent[] {
  const [ses, act, trn, cal, two, que] = [
    newId("session"),
    newId("activity"),
    newId("turn"),
    newId("call"),
    newId("call"),
    newId("question"),
  ];
  const art = `${newId("artifact")}o` as const;
  const call = (id: `cal_${string}`, tool: string, given: Record<string, unknown>) =>
    event("call.requested", { id, turnId: trn, providerCallId: `p-${tool}`, tool, arguments: given });
  const stdout = `took ${ms} ms at 2026-01-01T00:00:${10 + (ms % 50)}Z\nduration_ms ${ms}.5\nsee ${art} in ${ses}\n`;
  const input = newId("input");
  return [
    event("session.created", {
      projectId: newId("project"),
      title: "",
      model: `x/${ms}`,
      mode: "auto",
      environment: { kind: "jail", network: "off" },
      workspace: "copy",
      turnLimit: 25,
    }),
    event("snapshot.taken", tree("one")),
    event("input.admitted", { id: input, text: "go", attachments: [], delivery: "steer" }),
    event("input.promoted", { id: input, activityId: act }),
    event("context.set", { system: "You work. Today is 2026-01-01.", topics: { date: String(ms) } }),
    event("turn.prepared", { id: trn, activityId: act, model: "x/y", requestHash: String(ms) }),
    event("turn.dispatched", { id: trn, attempt: 1 }),
    event("turn.attempt-failed", { id: trn, attempt: 1, error: { code: "provider.unavailable", message: "later" } }),
    event("turn.dispatched", { id: trn, attempt: 2 }),
    event("turn.said", { id: trn, part: newId("part"), kind: "text", text: "I look." }),
    call(cal, "shell", { command: "ls" }),
    call(two, "edit", { path: "a" }),
    event("turn.replied", { id: trn, finish: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } }),
    event("question.asked", {
      id: que,
      about: {
        kind: "approval",
        callId: cal,
        turnId: trn,
        tool: "shell",
        arguments: {},
        hash: String(ms),
        because: "it",
      },
      text: "May it?",
      choices: [],
      takesText: true,
    }),
    event("question.answered", { id: que, answerId: newId("answer"), answer: { choice: "once" } }),
    event("call.started", { id: cal, attempt: 1 }),
    event("call.settled", { id: cal, result: { exitCode: 0, stdout, stdoutBytes: stdout.length, durationMs: ms } }),
    event("call.failed", { id: two, error: { code: "file.missing", message: "a is not there" } }),
    event("turn.settled", { id: trn, outcome: "replied" }),
    event("activity.settled", { id: act, outcome: "done" }),
    event("snapshot.taken", tree("two")),
  ];
}

function tree(name: string) {
  const counts = { files: 0, insertions: 0, deletions: 0 };
  const of = { calls: [], commands: [], skipped: [] };
  return { snapshotId: newId("snapshot"), tree: name, previous: null, reason: "calls" as const, ...counts, ...of };
}

/** The events with one text in them replaced by another. */
function changed(from: string, to: string): readonly NewEvent[] {
  const text = JSON.stringify(session(7));
  expect(text.split(from).length).toBeGreaterThan(1);
  return JSON.parse(text.replaceAll(from, to)) as NewEvent[];
}

const placesIn = (found: readonly Difference[]) => found.map(({ where }) => where);

test("two sessions that did the same are the same, whatever they are called and however long it took", () => {
  expect(differences(performanceOf(session(7)), performanceOf(session(1234)))).toEqual([]);
});

test("what ran side by side may have ended in any order", () => {
  const other = session(7);
  const at = other.findIndex(({ type }) => type === "call.settled");
  other.splice(at, 2, other[at + 1]!, other[at]!);
  expect(differences(performanceOf(session(7)), performanceOf(other))).toEqual([]);
});

test.each([
  ['"go"', '"stop"', "turn 1: what was said before it"],
  ["You work.", "You rest.", "turn 1: what was said before it"],
  ['"mode":"auto"', '"mode":"ask"', "the settings"],
  ['"later"', '"never"', "turn 1: failed attempt 1"],
  ["I look.", "I see.", "turn 1: words 1"],
  ['"ls"', '"ls -a"', "turn 1: call 1 (shell)"],
  ['"p-shell"', '"p-other"', "turn 1: call 1 (shell)"],
  ['"because":"it"', '"because":"that"', "turn 1: call 1 (shell): its question"],
  ['"once"', '"deny"', "turn 1: call 1 (shell): its question"],
  ['"exitCode":0', '"exitCode":1', "turn 1: call 1 (shell): what came of it"],
  ["took ", "took about ", "turn 1: call 1 (shell): what came of it"],
  ["a is not there", "b is not there", "turn 1: call 2 (edit): what came of it"],
  ['"outputTokens":1', '"outputTokens":2', "turn 1: how it ended"],
  ['"outcome":"done"', '"outcome":"failed"', "what came after the last turn"],
  ['"tree":"one"', '"tree":"three"', "the files at the beginning"],
  ['"tree":"two"', '"tree":"three"', "the files at the end"],
])("%s that is %s is told: %s", (from, to, where) => {
  expect(placesIn(differences(performanceOf(session(7)), performanceOf(changed(from, to))))).toEqual([where]);
});

test("an id in the place of another is told, in what came of a call and in what the model said", () => {
  const one = session(7);
  const ids = [...new Set(JSON.stringify(one).match(/cal_\w{26}/g))];
  const swapped = (field: string, id: string) =>
    JSON.parse(JSON.stringify(one).replace(field, `${field}${id} `)) as NewEvent[];
  expect(differences(performanceOf(swapped("see ", ids[0]!)), performanceOf(swapped("see ", ids[1]!)))).toEqual([]);
  const both = (a: string, b: string) => performanceOf(swapped("see ", `${a} ${b}`));
  expect(placesIn(differences(both(ids[0]!, ids[0]!), both(ids[0]!, ids[1]!)))).toEqual([
    "turn 1: call 1 (shell): what came of it",
  ]);
  expect(placesIn(differences(performanceOf(swapped("I ", ids[0]!)), performanceOf(swapped("I ", ids[1]!))))).toEqual([
    "turn 1: words 1",
  ]);
});

test("what is to be ignored is, in what came of calls alone", () => {
  const ignored = /took (about )?|l\w+/g;
  const same = (from: string, to: string) =>
    placesIn(differences(performanceOf(session(7), { ignored }), performanceOf(changed(from, to), { ignored })));
  expect(same("took ", "took about ")).toEqual([]);
  expect(same('"ls"', '"lsof"')).toEqual(["turn 1: call 1 (shell)"]);
});

test("turns that one of them lacks are told, too", () => {
  const short = session(7).filter(({ type }) => type === "session.created" || type === "snapshot.taken");
  expect(placesIn(differences(performanceOf(short), performanceOf(session(7))))).toContain("turn 1: call 2 (edit)");
});

test("of a long difference the piece around where it begins is shown", () => {
  const text = "x".repeat(500);
  const { one, other } = pieces({ where: "", one: `${text}a${text}`, other: `${text}b${text}` }, 10);
  expect([one, other]).toEqual(["…xxxxxaxxxxxxxxxxxxxx…", "…xxxxxbxxxxxxxxxxxxxx…"]);
  expect(pieces({ where: "", one: undefined, other: "b" })).toEqual({ one: "(nothing)", other: "b" });
});
