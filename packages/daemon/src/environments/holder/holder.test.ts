import { type EnvironmentState, newId } from "@corral/protocol";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { driversOf } from "../drivers/drivers.ts";
import { openDriver } from "../local/testing/driver.ts";
import { planOf } from "../plan/plan.ts";
import type { Environment } from "../port.ts";
import { isAlive } from "../system/process-identity.ts";
import { EnvironmentHolder, type HolderOptions } from "./holder.ts";

let home: string;
let opened: Environment[];
/** What is on record, for all holders of a test. */
let record: EnvironmentState | undefined;
let story: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "corral-holder-"));
  mkdirSync(join(home, "workspace"));
  opened = [];
  record = undefined;
  story = [];
});

afterEach(async () => {
  for (const environment of opened) await environment.end();
  rmSync(home, { recursive: true, force: true });
});

function newHolder(options: Partial<HolderOptions<void>> = {}): EnvironmentHolder {
  const plan = { workspace: join(home, "workspace"), network: "open" } as const;
  return new EnvironmentHolder({
    drivers: driversOf(openDriver(home)),
    recorded: () => record,
    async openNew(_by, open) {
      story.push("open");
      return open("local", planOf({ id: newId("environment"), ...plan }));
    },
    async opened(environment, before) {
      opened.push(environment);
      story.push(`recorded, before: ${before.kind}`);
      record = environment.state;
      return "recorded";
    },
    async ended(environment, { reason }) {
      story.push(`closed: ${reason}`);
      record = undefined;
      await environment.end();
      story.push("cleared");
    },
    onSuccessor: ({ shell }) => shell.takePlace(),
    ...options,
  });
}

async function run({ shell }: Environment, text: string) {
  const { stdout, shellRespawned } = await shell.run({ id: newId("call"), text, timeoutMs: 60_000 });
  return { stdout, shellRespawned };
}

test("everyone who asks while it is being opened gets the same environment", async () => {
  const holder = newHolder();
  const [first, ...others] = await Promise.all([holder.open(), holder.open(), holder.open()]);
  expect(others.every((other) => other === first)).toBe(true);
  expect(story).toEqual(["open", "recorded, before: none"]);
});

test("another holder finds it by what is on record, as it was left", async () => {
  const holder = newHolder();
  await run(await holder.open(), "left=here");
  holder.detach();
  const found = await newHolder().open();
  opened.push(found);
  expect(await run(found, "echo $left")).toEqual({ stdout: "here\n", shellRespawned: false });
  expect(story).toEqual(["open", "recorded, before: none"]);
});

test("one that ended while it was held is closed and cleared away before another is opened, which says so", async () => {
  const holder = newHolder();
  await (await holder.open()).kill();
  const [next, same] = await Promise.all([holder.open(), holder.open()]);
  expect(same).toBe(next);
  expect(story.slice(2)).toEqual(["closed: it ended", "cleared", "open", "recorded, before: none"]);
  expect(await run(next, "echo on")).toEqual({ stdout: "on\n", shellRespawned: true });
  expect(await run(next, "echo on")).toEqual({ stdout: "on\n", shellRespawned: false });
});

test("one that was found ended stays on record, with its results, until another takes its place", async () => {
  const first = await newHolder().open();
  await first.shell.run({ id: "before", text: "echo kept", timeoutMs: 60_000 });
  await first.kill();
  const holder = newHolder();
  const found = await holder.find();
  expect(found).toMatchObject({ kind: "gone", state: { id: first.state.id } });
  expect(found.kind === "gone" && (await found.results.find("before"))).toMatchObject({
    kind: "done",
    result: { stdout: "kept\n" },
  });
  expect(await run(await holder.open(), "echo on")).toEqual({ stdout: "on\n", shellRespawned: true });
  expect(story.slice(2)).toEqual(["open", "recorded, before: gone"]);
});

test("one that cannot be recorded is ended, and the next who asks has another try", async () => {
  let refused: Environment | undefined;
  const failures: string[] = [];
  const holder: EnvironmentHolder = newHolder({
    async opened(environment) {
      opened.push(environment);
      record = environment.state;
      if (refused !== undefined) return "recorded";
      refused = environment;
      record = undefined;
      throw new Error("no room");
    },
    onFailure: () => failures.push("failed"),
  });
  await expect(Promise.all([holder.open(), holder.open()])).rejects.toThrow("no room");
  expect([refused?.isOpen, isAlive(refused!.state.supervisor), failures]).toEqual([false, false, ["failed"]]);
  expect((await holder.open()).isOpen).toBe(true);
});

test("when another process was first, its environment is found, and the one opened here is ended", async () => {
  const winner = await newHolder().open();
  winner.detach();
  const won = record;
  record = undefined;
  const holder = newHolder({
    async opened(environment) {
      opened.push(environment);
      record = won;
      return "outrun";
    },
  });
  const environment = await holder.open();
  const [, loser] = opened;
  opened.push(environment);
  expect(environment.state.id).toBe(won?.id);
  expect([isAlive(loser!.state.supervisor), (await run(environment, "echo on")).stdout]).toEqual([false, "on\n"]);
});

test("what is ended is not handed out again", async () => {
  const holder = newHolder();
  const first = await holder.open();
  await holder.end();
  record = undefined;
  const next = await holder.open();
  expect([isAlive(first.state.supervisor), next === first, await run(next, "echo on")]).toEqual([
    false,
    false,
    { stdout: "on\n", shellRespawned: false },
  ]);
});
