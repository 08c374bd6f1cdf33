import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, type NewEvent } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { historyOf, type Lease, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { closeCutParts, cutPartsFolder, StreamedWords } from "./cut-parts.ts";

const session = "ses_a";
const piece = (part: `prt_${string}`, offset: number, text: string) =>
  ({ kind: "text", session, part, offset, text }) as const;
const said = (part: `prt_${string}`, text: string, cut?: true) =>
  event("turn.said", { id: "trn_a", part, kind: "text", text, ...(cut && { cut }) });

let home: string;
let folder: string;
let log: Log;
let lease: Lease;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "corral-cut-"));
  folder = cutPartsFolder(home);
  log = await openSqliteLog({ file: join(home, "log.db"), projections: [] });
  lease = await log.takeLease(session, "runner");
  await record(
    event("activity.opened", { id: "act_a" }),
    event("turn.prepared", { id: "trn_a", activityId: "act_a", model: "m", requestHash: "h" }),
    event("turn.dispatched", { id: "trn_a", attempt: 1 }),
  );
});
afterEach(async () => {
  await log.close();
  rmSync(home, { recursive: true });
});

async function record(...events: NewEvent[]): Promise<void> {
  await log.append({ stream: session, actor: "agent:ses_a", fence: lease.fence, events });
}

async function onRecord(): Promise<unknown[]> {
  return (await historyOf(log, session)).slice(3).map(({ type, data }) => ({ type, data }));
}

test("words that the lane heard and no event ended are closed as cut, once", async () => {
  for (const [offset, text] of [
    [0, "Half "],
    [5, "a sen"],
  ] as const)
    log.live.emit(piece("prt_a", offset, text));
  await closeCutParts(log, lease, folder);
  await closeCutParts(log, lease, folder);
  expect(await onRecord()).toEqual([said("prt_a", "Half a sen", true)]);
});

test("an end that is on its way to the disk counts", async () => {
  log.live.emit(piece("prt_a", 0, "whole"));
  const ending = record(said("prt_a", "whole"));
  await closeCutParts(log, lease, folder);
  await ending;
  expect(await onRecord()).toEqual([said("prt_a", "whole")]);
});

test("words that a runner left when its daemon was gone are closed by the next, and their file goes", async () => {
  const words = new StreamedWords();
  words.add(piece("prt_a", 0, "ended"));
  words.add(piece("prt_b", 0, "Half a "));
  words.add(piece("prt_b", 7, "sen"));
  words.settle([said("prt_a", "ended")]);
  words.leave(folder, session);
  expect(readdirSync(folder)).toEqual(["ses_a.json"]);
  await closeCutParts(log, lease, folder);
  expect(await onRecord()).toEqual([said("prt_b", "Half a sen", true)]);
  expect(readdirSync(folder)).toEqual([]);
});

test("nothing is left of a run whose words have all ended, and of a turn that has", async () => {
  const words = new StreamedWords();
  words.add(piece("prt_a", 0, "ended"));
  words.settle([event("turn.settled", { id: "trn_a", outcome: "failed" })]);
  words.leave(folder, session);
  expect(existsSync(folder)).toBe(false);
});

test("words of a turn that is over, and half a file, close nothing and are let go", async () => {
  const words = new StreamedWords();
  words.add(piece("prt_a", 0, "late"));
  words.leave(folder, session);
  await record(event("turn.settled", { id: "trn_a", outcome: "cut" }));
  const before = await onRecord();
  await closeCutParts(log, lease, folder);
  writeFileSync(join(folder, "ses_a.json"), '[{"kind":"te');
  await closeCutParts(log, lease, folder);
  expect({ now: await onRecord(), files: readdirSync(folder) }).toEqual({ now: before, files: [] });
});
