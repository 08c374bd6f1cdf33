import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { event } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
});
afterEach(() => stage.close());

const corral = (...words: string[]) => dispatch(words, stand.world);
const opened = event("activity.opened", { id: "act_1" });

test("a gap is a line in its place, in an export and in events", async () => {
  stage.tell("ses_a", opened, opened, opened, opened);
  stage.trimmed = 2;
  const lines = [{ kind: "gap", from: 1, to: 2 }, ...stage.log.slice(2)]
    .map((each) => `${JSON.stringify(each)}\n`)
    .join("");
  expect(await corral("export")).toBe(0);
  expect(stand.written).toEqual({ out: lines, err: "2 events, up to seq 4\n" });
  stand.written.out = "";
  expect(await corral("events")).toBe(0);
  expect(stand.written.out).toBe(lines);
});

test("Ctrl-C ends an export with exit code 130, and says that the file is not whole", async () => {
  stage.tell("ses_a", opened);
  stage.endless = true;
  const file = join(stand.world.home, "events.jsonl");
  const exported = corral("export", "--out", file);
  await expect.poll(() => existsSync(file) && statSync(file).size).toBeGreaterThan(0);
  stand.pressCtrlC();
  expect(await exported).toBe(130);
  expect(stand.written.err).toMatch(/^stopped after \d+ lines?; .*events\.jsonl is incomplete\n$/);
  expect(readFileSync(file, "utf8")).toMatch(/^(\{.*\}\n)+$/);
});

test("progress is told on a terminal alone, and wiped away", async () => {
  stage.tell("ses_a", opened, opened);
  const watched = { ...stand.world, err: { ...stand.world.err, isTerminal: true } };
  expect(await dispatch(["export"], watched)).toBe(0);
  expect(stand.written.err).toBe("\r2 lines …\r\u001b[K2 events, up to seq 2\n");
});

test("what cannot be is told before anything is asked", async () => {
  expect(await corral("export", "--session", "nonsense")).toBe(2);
  expect(await corral("export", "--out", join(stand.world.home, "none", "x"))).toBe(2);
  expect(await corral("backup", join(stand.world.home, "none", "x"))).toBe(2);
  expect(await corral("backup", "restore")).toBe(2);
  expect(await corral("backup", "a", "b")).toBe(2);
  expect(stage.asked).toEqual([]);
  expect(await corral("export", "--session", "ses_none")).toBe(1);
});
