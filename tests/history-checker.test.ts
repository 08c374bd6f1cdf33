import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, type NewEvent, type WireEvent } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { checkHistory, processesWith } from "./history-checker.ts";

const turn = event("turn.settled", { id: "trn_1", outcome: "replied" });
const end = event("call.settled", { id: "cal_1", result: {} });
const start = (attempt: number) => event("call.started", { id: "cal_1", attempt });
const dispatched = (attempt: number) => event("turn.dispatched", { id: "trn_1", attempt });
const promoted = event("input.promoted", { id: "inp_1", activityId: "act_1" });
const settled = event("activity.settled", { id: "act_1", outcome: "done" });
const sound: readonly NewEvent[] = [
  event("input.admitted", { id: "inp_1", text: "go", attachments: [], delivery: "steer" }),
  event("activity.opened", { id: "act_1" }),
  promoted,
  event("turn.prepared", { id: "trn_1", activityId: "act_1", model: "x/y", requestHash: "" }),
  dispatched(1),
  event("call.requested", {
    id: "cal_1",
    turnId: "trn_1",
    providerCallId: "one",
    tool: "shell",
    arguments: { command: "echo done >> mark-a" },
  }),
  start(1),
  end,
  turn,
  settled,
];

function checked(events: readonly NewEvent[], { marks = "done\n", heard = events.length } = {}): string[] {
  const folder = mkdtempSync(join(tmpdir(), "corral-history-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "mark-a"), marks);
  const stored = events.map((each, n): WireEvent => ({
    ...{ seq: n + 1, stream: "ses_1", version: n + 1, typeVersion: 1, actor: "test" },
    ...{ approximateCreationTime: "2026-01-01T00:00:00.000Z", ...each },
  }));
  return checkHistory({
    events: stored,
    acknowledged: ["inp_1"],
    workspaceOf: () => folder,
    heard: stored.slice(0, heard),
  });
}

const without = (gone: NewEvent) => sound.filter((each) => each !== gone);
const with_ = (after: NewEvent, ...more: NewEvent[]) =>
  sound.flatMap((each) => (each === after ? [each, ...more] : [each]));

test("a sound history has no troubles, nor has one in which a person decided to do something again", () => {
  expect(checked(sound)).toEqual([]);
  const unknown = event("call.unknown", { id: "cal_1", reason: "gone" });
  const decided = event("call.decided", { id: "cal_1", decision: "retry" });
  const again = sound.flatMap((each) => (each === end ? [unknown, decided, start(2), end] : [each]));
  expect(checked(again, { marks: "done\ndone\n" })).toEqual([]);
});

test.each<[string, readonly NewEvent[], object?]>([
  ["input inp_1 was admitted 0 times, promoted 1 times and ran 1 times", sound.slice(1)],
  ["input inp_1 was admitted 1 times, promoted 2 times and ran 2 times", with_(promoted, promoted)],
  ["input inp_1 was admitted 1 times, promoted 0 times and ran 0 times", without(promoted)],
  ["act_1 opened 1 times and settled 0 times", without(settled)],
  [
    "act_1 failed: no",
    [
      ...without(settled),
      event("activity.settled", { id: "act_1", outcome: "failed", error: { code: "x", message: "no" } }),
    ],
  ],
  ["trn_1 settled 2 times", with_(turn, turn)],
  ["trn_1 counts its attempts 1, 3", with_(sound[4]!, dispatched(3))],
  ["trn_1 was asked again after its reply had made calls", with_(end, dispatched(2))],
  [
    "cal_1 has 2 ends and 0 decisions to retry",
    with_(end, event("call.failed", { id: "cal_1", error: { code: "x", message: "" } })),
  ],
  ["cal_1 has 0 ends and 0 decisions to retry", without(end)],
  ["cal_1 counts its starts 1, 1", with_(sound[6]!, start(1))],
  ["cal_1 (mark-a) was done 2 times", sound, { marks: "done\ndone\n" }],
  ["cal_1 (mark-a) is settled and was not done", sound, { marks: "" }],
  ["a subscriber heard 9 of 10 events", sound, { heard: 9 }],
])("%s: is found", (trouble, events, how = {}) => {
  expect(checked(events, how)).toContain(trouble);
});

test("a seq that is missing, or heard twice, is found", () => {
  const at = (seq: number): WireEvent => ({
    ...{ seq, stream: "prj_1", version: seq, typeVersion: 1, actor: "test" },
    ...{ approximateCreationTime: "", type: "moon.landed", data: {} },
  });
  const troubles = (seqs: number[], heard: number[]) =>
    checkHistory({ events: seqs.map(at), heard: heard.map(at), acknowledged: [], workspaceOf: () => "" });
  expect(troubles([1, 3], [1, 3])).toEqual(["event 2 has seq 3"]);
  expect(troubles([1, 2], [1, 1, 2])).toEqual(["a subscriber heard 1 moon.landed where 2 moon.landed was recorded"]);
});

test("a process is found by its words", () => {
  const [word = ""] = process.argv0.split("/").slice(-1);
  expect(processesWith(word).length).toBeGreaterThan(0);
  expect(processesWith("no process has these words, nobody")).toEqual([]);
});
