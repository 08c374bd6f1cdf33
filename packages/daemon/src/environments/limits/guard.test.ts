import type { LimitHit } from "@corral/protocol";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultLimits } from "../plan.ts";
import { identify } from "../process-identity.ts";
import { type Free, Guard, Guarded } from "./guard.ts";

const plenty: Free = { bytes: 2 ** 40, ofBytes: 2 ** 41, files: 1e6, ofFiles: 2e6 };
const limits = { ...defaultLimits, diskBytes: 1_000_000 };

/** A process that writes that much at a time, again and again for some seconds, into one file. */
async function writer(bytes: number): Promise<Guarded> {
  // A file system in memory counts as none.
  const folder = mkdtempSync("/var/tmp/corral-writer-");
  const file = join(folder, "file");
  const script = `n=0; while [ $n -lt 500 ]; do head -c ${bytes} /dev/zero >${file}; echo written; sleep 0.02; n=$((n + 1)); done`;
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
    rmSync(folder, { recursive: true, force: true });
  });
  await once(
    child.stdout.on("data", () => undefined),
    "data",
  );
  const supervisor = identify(child.pid!)!;
  return new Guarded({ supervisor, limits, folders: [folder], guardsMemory: false });
}

/** What is free at each look, the last one for ever; resolves when that was looked at twice more. */
function looks(...seen: [Free, ...Free[]]): { free: () => Free; done: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const free = () => {
    if (count++ > seen.length) resolve();
    return seen[Math.min(count, seen.length) - 1]!;
  };
  return { free, done: promise };
}

test("when the disk runs out, who has written most is stopped, and nobody else", async () => {
  const [small, large] = [await writer(10_000), await writer(5_000_000)];
  const { promise, resolve } = Promise.withResolvers<[Guarded, LimitHit]>();
  // From one look to the next both must have come to write, on a busy machine, too.
  const guard = new Guard({ free: () => scarce, measure: nothing, everyMs: 500 });
  for (const each of [small, large]) guard.watch(each, "command", (limit) => resolve([each, limit]));
  expect(await promise).toEqual([large, "disk"]);
});

test("who writes nothing goes on, however little is left", async () => {
  const [idle, busy] = [newGuarded(), await writer(10_000)];
  const stopped: Guarded[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const guard = new Guard({ free: () => scarce, measure: nothing, everyMs: 50 });
  guard.watch(idle, "command", () => stopped.push(idle));
  guard.watch(busy, "command", () => resolve());
  await promise;
  expect(stopped).toEqual([]);
});

test("what writes in the background of an environment without a command is stopped, too", async () => {
  const guarded = await writer(10_000);
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const guard = new Guard({ free: () => ({ ...plenty, files: 10 }), measure: nothing, everyMs: 50 });
  guard.watch(guarded, "environment", resolve);
  expect(await promise).toBe("disk");
});

test("one whose folder is away for a moment is watched all the same, and leaves nobody unguarded", async () => {
  const [away, writing] = [newGuarded(), await writer(10_000)];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const free = (folder: string) => {
    if (folder === away.folders[0]) throw new Error("ENOENT");
    return scarce;
  };
  const guard = new Guard({ free, measure: nothing, everyMs: 50 });
  guard.watch(away, "environment", () => undefined);
  guard.watch(writing, "command", resolve);
  expect(await promise).toBe("disk");
});

test("a command is stopped before its environment", async () => {
  const guarded = await writer(10_000);
  const { promise, resolve } = Promise.withResolvers<string>();
  const guard = new Guard({ free: () => scarce, measure: nothing, everyMs: 50 });
  guard.watch(guarded, "environment", () => resolve("environment"));
  guard.watch(guarded, "command", () => resolve("command"));
  expect(await promise).toBe("command");
});

test("a workspace is measured only when an eighth of what it may add has gone from the disk", async () => {
  const guarded = newGuarded();
  const measured: (readonly string[])[] = [];
  const measure = (folders: readonly string[]) => {
    measured.push(folders);
    return Promise.resolve(500_000);
  };
  const used = (bytes: number) => ({ ...plenty, bytes: plenty.bytes - bytes });
  const { free, done } = looks(plenty, used(100_000), used(150_000), used(160_000));
  const stopped: LimitHit[] = [];
  const end = new Guard({ free, measure, everyMs: 2 }).watch(guarded, "command", (limit) => stopped.push(limit));
  await done;
  end();
  expect({ measured, stopped }).toEqual({ measured: [guarded.folders], stopped: [] });
});

test("an environment is stopped when it has added more than it may, whatever was there before", async () => {
  const held = [50_000_000, 50_900_000, 51_100_000];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const measure = () => Promise.resolve(held.shift());
  new Guard({ free: shrinking(), measure, everyMs: 2 }).watch(newGuarded(), "command", resolve);
  expect({ limit: await promise, left: held }).toEqual({ limit: "disk", left: [] });
});

test("an environment is stopped when its workspace is larger than it may be, however little it has added", async () => {
  const held = [50_000_000, 50_100_000, 50_300_000];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const measure = () => Promise.resolve(held.shift());
  const guarded = newGuarded({ ...limits, workspaceBytes: 50_200_000 });
  new Guard({ free: shrinking(10_000_000), measure, everyMs: 2 }).watch(guarded, "command", resolve);
  expect({ limit: await promise, left: held }).toEqual({ limit: "disk", left: [] });
});

test("one that has more than it may and makes room goes on", async () => {
  const held = [50_000_000, 52_000_000, 51_900_000, 51_800_000];
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopped: number[] = [];
  const measure = () => {
    if (held.length === 0) resolve();
    return Promise.resolve(held.shift());
  };
  const guard = new Guard({ free: shrinking(), measure, everyMs: 2 });
  const guarded = newGuarded();
  guard.watch(guarded, "command", () => {
    stopped.push(guarded.held!);
    guard.watch(guarded, "command", () => stopped.push(guarded.held!));
  });
  await promise;
  expect(stopped).toEqual([52_000_000]);
});

const scarce: Free = { ...plenty, bytes: 1e8 };
const nothing = () => Promise.resolve(0);

/** An environment in which nothing is written. */
function newGuarded(of = limits): Guarded {
  const child = spawn("/bin/sleep", ["60"], { stdio: "ignore" });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  return new Guarded({ supervisor: identify(child.pid!)!, limits: of, folders: ["/var/tmp"], guardsMemory: false });
}

function shrinking(by = 500_000): () => Free {
  let bytes = plenty.bytes;
  return () => ({ ...plenty, bytes: (bytes -= by) });
}
