import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { integrityOf } from "../log/sqlite/index.ts";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => void (gate = await openTestGateway()));
afterEach(() => gate.close());

test("a backup is written below the home alone, whatever the request says, and tells what is in it", async () => {
  await gate.newSession();
  const elsewhere = join(gate.folder, "elsewhere.db");
  const answer = await gate.post("/api/backups", { path: elsewhere, to: elsewhere, file: elsewhere });
  const made = await answer.json();
  const name = /backups\/corral-\d{4}-\d\d-\d\dT\d{6}Z\.db$/;
  expect({ status: answer.status, made }).toEqual({
    status: 201,
    made: { path: expect.stringMatching(name), bytes: statSync(made.path).size, events: 2, seq: 2 },
  });
  expect(readdirSync(gate.folder)).not.toContain("elsewhere.db");
  expect(await integrityOf(made.path)).toEqual([]);
  expect(statSync(made.path).mode & 0o777).toBe(0o600);
  expect(statSync(join(gate.folder, "backups")).mode & 0o777).toBe(0o700);
});

test("backups asked for at once get names of their own, and what a cut off one left goes", async () => {
  const folder = join(gate.folder, "backups");
  mkdirSync(folder);
  writeFileSync(join(folder, "corral-1.db.123.partial"), "half");
  writeFileSync(join(folder, "mine.txt"), "kept");
  const answers = await Promise.all(Array.from({ length: 4 }, () => gate.post("/api/backups", {})));
  const paths = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { path: string }).path));
  expect(new Set(paths).size).toBe(4);
  expect(readdirSync(folder).map((entry) => join(folder, entry))).toEqual(
    [...paths, join(folder, "mine.txt")].toSorted(),
  );
});

test("a request that is sent again under its key makes no second one", async () => {
  const send = async () => (await gate.post("/api/backups", {}, { "idempotency-key": "k1" })).json();
  expect(await send()).toEqual(await send());
  expect(readdirSync(join(gate.folder, "backups"))).toHaveLength(1);
});
