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

/** A process that has written that much to the disk, and waits. */
async function writer(bytes: number): Promise<Guarded> {
  // A file system in memory counts as none.
  const folder = mkdtempSync("/var/tmp/corral-writer-");
  const script = `head -c ${bytes} /dev/zero >${join(folder, "file")}; echo written; exec sleep 60`;
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child.stdout, "data");
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
  const [small, large] = [await writer(100_000), await writer(20_000_000)];
  const stopped: [Guarded, LimitHit][] = [];
  const scarce = { ...plenty, bytes: 1e8 };
  const { free, done } = looks(scarce, scarce, scarce, scarce, scarce, scarce);
  const guard = new Guard({ free, measure: () => Promise.resolve(0), everyMs: 2 });
  const ends = [small, large].map((each) => guard.watch(each, (limit) => stopped.push([each, limit])));
  await done;
  for (const end of ends) end();
  expect(stopped).toEqual([[large, "disk"]]);
});

test("when the file system has no room for files, too", async () => {
  const guarded = await writer(1);
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const guard = new Guard({ free: () => ({ ...plenty, files: 10 }), measure: () => Promise.resolve(0), everyMs: 2 });
  guard.watch(guarded, resolve);
  expect(await promise).toBe("disk");
});

test("a workspace is measured only when an eighth of what it may add has gone from the disk", async () => {
  const guarded = await writer(1);
  const measured: (readonly string[])[] = [];
  const measure = (folders: readonly string[]) => {
    measured.push(folders);
    return Promise.resolve(500_000);
  };
  const used = (bytes: number) => ({ ...plenty, bytes: plenty.bytes - bytes });
  const { free, done } = looks(plenty, used(100_000), used(150_000), used(160_000));
  const stopped: LimitHit[] = [];
  const end = new Guard({ free, measure, everyMs: 2 }).watch(guarded, (limit) => stopped.push(limit));
  await done;
  end();
  expect({ measured, stopped }).toEqual({ measured: [guarded.folders], stopped: [] });
});

test("an environment is stopped when it has added more than it may, whatever was there before", async () => {
  const guarded = await writer(1);
  const held = [50_000_000, 50_900_000, 51_100_000];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  let bytes = plenty.bytes;
  const free = () => ({ ...plenty, bytes: (bytes -= 500_000) });
  new Guard({ free, measure: () => Promise.resolve(held.shift()), everyMs: 2 }).watch(guarded, resolve);
  expect({ limit: await promise, left: held }).toEqual({ limit: "disk", left: [] });
});
