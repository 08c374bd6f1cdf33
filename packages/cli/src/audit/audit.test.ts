import type { AuditEntry, ChainReport } from "@corral/protocol";
import { expect, test } from "vitest";
import { brokenAdvice, entryLines, entryTable, reportLines } from "./audit-words.ts";
import { dispatch } from "../dispatch.ts";
import { testWorld } from "../testing/world.ts";

test.each([
  [["audit", "vrify"], 'unknown word "vrify"'],
  [["audit", "show"], "which one?"],
  [["audit", "show", "ses_1"], '"ses_1" is not a call or command id'],
  [["audit", "show", "cal_1", "cal_2"], 'unexpected word "cal_2"'],
  [["audit", "verify", "file.db"], 'unexpected word "file.db"'],
  [["audit", "verify", "--head", "12"], '"12" is no head'],
  [["audit", "verify", "--failed"], "--failed is for `corral audit`"],
  [["audit", "--head", "12"], "--head is for `corral audit verify`"],
  [["audit", "--since", "yesterday"], '"yesterday" is not a time'],
  [["audit", "--session", "mine"], '"mine" is not a session id'],
  [["audit", "--limit", "0"], "--limit needs a number from 1 to 500"],
])("%j is a mistake that is explained", async (words, complaint) => {
  const { world, written } = testWorld();
  expect(await dispatch(words, world)).toBe(2);
  expect(written.err).toContain(`error: ${complaint}`);
});

const entry: AuditEntry = {
  id: "cal_01m7h7fdbh1ey0pbxtbzak5rww",
  kind: "call",
  seq: 12,
  lastSeq: 14,
  actor: "agent:ses_01m7h7fcqkqt4cymvf6dwb549m",
  onWordOf: ["person:ada"],
  where: { session: "ses_1", environment: "local", network: "open", workspace: "in-place" },
  tool: "shell",
  command: `echo \u001b]0;title\u0007\n${"tail ".repeat(30)}`,
  askedAt: "2026-01-31T12:00:00.123Z",
  startedAt: "2026-01-31T12:00:01.456Z",
  endedAt: "2026-01-31T12:02:30.000Z",
  attempts: 2,
  outcome: "interrupted",
  exitCode: 143,
  timedOut: false,
  limit: "memory",
  durationMs: 148_544,
  diff: {
    kind: "snapshot",
    snapshot: "snp_2",
    previous: "snp_1",
    tree: "t",
    files: 2,
    insertions: 3,
    deletions: 1,
    sharedWith: ["cal_2"],
    expired: false,
  },
};

test("an entry of the list fits its lines, and what was run is shown, not obeyed", () => {
  expect(entryLines(entry, 80)).toBe(`\
cal_01m7h7fdbh1ey0pbxtbzak5rww  2026-01-31 12:00:01Z  interrupted, exit 143, 2 …
  agent:ses_01m7h7fcqkqt4cymvf6dwb549m for person:ada, local (UNSAFE), in-place
  $ echo ␛]0;title␇⏎tail tail tail tail tail tail tail tail tail tail tail tail…
  2 files, +3 −1, together with 1 other
`);
});

test("what somebody should look at is marked in the list, and told with why in the entry", () => {
  const flagged = [
    { path: "a\u001b[31m/Makefile", why: "building runs it" },
    ...["b", "c", "d", "e", "f", "g"].map((path) => ({ path, why: "it can be executed now" })),
  ];
  expect(
    entryLines({ ...entry, flagged }, 80)
      .split("\n")
      .at(-2),
  ).toBe("  ! look at a␛[31m/Makefile, b, c, d, e and 2 more: what is there runs by itsel…");
  expect(entryTable({ ...entry, flagged }, 80)).toContain(
    "  look at     a␛[31m/Makefile: building runs it\n  look at     b: it can be executed now\n",
  );
});

test("the whole entry has the command that shows the difference", () => {
  const told = entryTable({ ...entry, command: "a\n\u001b[31mb" }, 80);
  expect(told).toContain("  outcome     interrupted, exit 143, 2 min, memory limit\n");
  expect(told).toContain("  started     2026-01-31 12:00:01Z (attempt 2)\n");
  expect(told).toContain("  difference  2 files, +3 −1, together with 1 other\n");
  expect(told).toContain("  to see it   corral snapshots diff snp_1 snp_2\n");
  expect(told.endsWith("    a\n    ␛[31mb\n")).toBe(true);
  const none = entryTable({ ...entry, diff: { kind: "none", why: "not-yet" } }, 80);
  expect(none).toContain("  difference  not known: no snapshot was taken, in place\n");
  expect(none).not.toContain("corral snapshots");
});

const report: ChainReport = {
  verdict: "intact",
  head: `20:${"a".repeat(43)}`,
  events: 17,
  olderUpTo: 3,
  erased: 2,
  trimmed: 1,
  trimmedUpTo: 5,
  gaps: [{ from: 7, to: 9 }],
  breaks: [],
  breakCount: 0,
};

test("a report says what holds, what is not covered, and where it is broken", () => {
  expect(reportLines(report)).toBe(`\
intact: 17 events
not covered: events up to seq 3 are older than the chain
erased: 2 events of deleted sessions, whose hashes are kept
removed for their age: 1 event up to seq 5, whose hashes are kept
passed over: seqs 7 to 9, which another database had
head 20:${"a".repeat(43)}
`);
  const kept = { head: `9:${"b".repeat(43)}`, found: "other-link" } as const;
  const broken: ChainReport = {
    ...report,
    verdict: "broken",
    olderUpTo: 0,
    erased: 0,
    trimmed: 0,
    gaps: [],
    breaks: [
      { kind: "changed", from: 4, to: 4, stream: "ses_1", type: "call.requested" },
      { kind: "missing", from: 6, to: 8 },
    ],
    breakCount: 5,
    kept,
  };
  expect(reportLines(broken)).toBe(`\
BROKEN, of 17 events:
  seq 4 (call.requested of ses_1): not what was written
  seqs 6 to 8: removed
  and 3 more
NOT the log of ${kept.head}: events before it were rewritten
head 20:${"a".repeat(43)}
`);
  expect(brokenAdvice(broken, 80)).toMatch(/^Something other than Corral has written to the database/);
});
