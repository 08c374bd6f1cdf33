import { event, newId, type SessionId, usageView } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { usageProjections } from "./projection.ts";
import { openUsage } from "./usage.ts";

let folder: string;
let log: Log;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-usage-"));
  log = await openSqliteLog({ file: join(folder, "corral.db"), projections: usageProjections });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

const [one, two] = [newId("session"), newId("session")];

async function replied(session: SessionId, model: string | undefined, costUsd: number | undefined): Promise<void> {
  const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 60, cacheWriteTokens: 20, reasoningTokens: 5 };
  const facts = { ...(model === undefined ? {} : { model }), ...(costUsd === undefined ? {} : { costUsd }) };
  const said = event("turn.replied", { id: newId("turn"), finish: "stop", usage, ...facts });
  await log.append({ actor: "test", stream: session, events: [said] });
}

test("every reply counts once: by model, session, project and day", async () => {
  await replied(one, "anthropic/a", 0.1);
  await replied(one, "openai/b", 0.2);
  await replied(two, "anthropic/a", 0.4);
  await replied(two, undefined, undefined);
  const usage = openUsage({ log, projects: async () => new Map([[one, "prj_1"]]) });
  const told = async (by: Parameters<typeof usage.view>[0]) =>
    (await usage.view(by)).groups.map(({ name, requests, costUsd, unpriced }) => [name, requests, costUsd, unpriced]);
  expect(await told("model")).toEqual([
    ["anthropic/a", 2, 0.5, 0],
    ["openai/b", 1, 0.2, 0],
    ["unknown", 1, 0, 1],
  ]);
  expect(await told("session")).toEqual([
    [two, 2, 0.4, 1],
    [one, 2, 0.3, 0],
  ]);
  expect(await told("project")).toEqual([
    ["unknown", 2, 0.4, 1],
    ["prj_1", 2, 0.3, 0],
  ]);
  expect(await told("day")).toEqual([[new Date().toISOString().slice(0, 10), 4, 0.7, 1]]);
  expect((await usage.view("day")).total).toEqual({
    requests: 4,
    inputTokens: 400,
    outputTokens: 40,
    cachedInputTokens: 240,
    cacheWriteTokens: 80,
    reasoningTokens: 20,
    costUsd: 0.7,
    unpriced: 1,
  });
});

test("counts and costs that cannot be are recorded and summed up all the same", async () => {
  const odd = [0.5, -3, 1e300, 2 ** 60, Number.MAX_SAFE_INTEGER, Infinity, NaN, "many" as unknown as number];
  for (const count of odd) {
    const usage = { inputTokens: count, outputTokens: count, cachedInputTokens: count, reasoningTokens: count };
    const said = event("turn.replied", { id: newId("turn"), finish: "stop", usage, model: "a/b", costUsd: count });
    await log.append({ actor: "test", stream: one, events: [said] });
  }
  const { groups, total } = usageView.parse(await openUsage({ log, projects: async () => new Map() }).view("model"));
  expect(groups).toEqual([{ name: "a/b", ...total }]);
  expect(total).toMatchObject({ requests: odd.length, inputTokens: Number.MAX_SAFE_INTEGER, cacheWriteTokens: 0 });
});
