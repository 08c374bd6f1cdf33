import type { LimitHit } from "@corral/protocol";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultLimits } from "../plan/plan.ts";
import { identify } from "../system/process-identity.ts";
import { type Free, Ward, Warden } from "./warden.ts";

const plenty: Free = { bytes: 2 ** 40, ofBytes: 2 ** 41, files: 1e6, ofFiles: 2e6 };
const limits = { ...defaultLimits, diskBytes: 1_000_000 };

/** A process that writes that much at a time, again and again for some seconds, into one file. */
async function writer(bytes: number, onWritten = (): void => undefined): Promise<Ward> {
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
  await once(child.stdout.on("data", onWritten), "data");
  const supervisor = identify(child.pid!)!;
  return new Ward({ supervisor, limits, folders: [folder], memory: undefined });
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
  const writes = [0, 0];
  let isSeen = () => false;
  const counted = (index: 0 | 1) => () => {
    if (isSeen()) writes[index]! += 1;
  };
  const [small, large] = [await writer(10_000, counted(0)), await writer(5_000_000, counted(1))];
  isSeen = () => small.written !== undefined && large.written !== undefined;
  const { promise, resolve } = Promise.withResolvers<[Ward, LimitHit]>();
  // It runs out at the first look, and then when both have come to write since.
  const free = () => (!isSeen() || writes.every((count) => count > 1) ? scarce : plenty);
  const warden = new Warden({ free, measure: nothing, everyMs: 20 });
  for (const each of [small, large]) warden.watch(each, "command", (limit) => resolve([each, limit]));
  expect(await promise).toEqual([large, "disk"]);
});

test("who writes nothing goes on, however little is left", async () => {
  const [idle, busy] = [newWard(), await writer(10_000)];
  const stopped: Ward[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const warden = new Warden({ free: () => scarce, measure: nothing, everyMs: 50 });
  warden.watch(idle, "command", () => stopped.push(idle));
  warden.watch(busy, "command", () => resolve());
  await promise;
  expect(stopped).toEqual([]);
});

test.skipIf(process.getuid?.() === 0)(
  "who hides that it writes is stopped while the disk gets fuller, and not before (needs an ordinary user)",
  async () => {
    const folder = mkdtempSync("/var/tmp/corral-hiding-");
    const copy = join(folder, "dd");
    copyFileSync("/usr/bin/dd", copy);
    // Of a program that nobody may read the kernel tells nobody anything.
    chmodSync(copy, 0o111);
    const script = `while sleep 0.02; do head -c 10000 /dev/zero; done | ${copy} of=${join(folder, "file")} 2>/dev/null`;
    const child = spawn("/bin/sh", ["-c", script], { stdio: "ignore", detached: true });
    onTestFinished(async () => {
      process.kill(-child.pid!, "SIGKILL");
      await once(child, "close");
      rmSync(folder, { recursive: true, force: true });
    });
    await expect.poll(() => existsSync(join(folder, "file"))).toBe(true);
    const supervisor = identify(child.pid!)!;
    const stopsBy = async (free: () => Free, done: Promise<unknown>) => {
      const ward = new Ward({ supervisor, limits, folders: [folder], memory: undefined });
      const { promise, resolve } = Promise.withResolvers<LimitHit>();
      const end = new Warden({ free, measure: nothing, everyMs: 20 }).watch(ward, "command", resolve);
      const first = await Promise.race([promise, done.then(() => "nobody")]);
      end();
      return first;
    };
    const still = looks(scarce, scarce, scarce, scarce);
    expect(await stopsBy(still.free, still.done)).toBe("nobody");
    let left = scarce.bytes;
    const never = new Promise(() => undefined);
    expect(await stopsBy(() => ({ ...scarce, bytes: (left -= 10_000) }), never)).toBe("disk");
  },
);

test("what writes in the background of an environment without a command is stopped, too", async () => {
  const ward = await writer(10_000);
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const warden = new Warden({ free: () => ({ ...plenty, files: 10 }), measure: nothing, everyMs: 50 });
  warden.watch(ward, "environment", resolve);
  expect(await promise).toBe("disk");
});

test("one whose folder is away for a moment is watched all the same, and leaves nobody unwatched", async () => {
  const [away, writing] = [newWard(), await writer(10_000)];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const free = (folder: string) => {
    if (folder === away.folders[0]) throw new Error("ENOENT");
    return scarce;
  };
  const warden = new Warden({ free, measure: nothing, everyMs: 50 });
  warden.watch(away, "environment", () => undefined);
  warden.watch(writing, "command", resolve);
  expect(await promise).toBe("disk");
});

test("a command is stopped before its environment", async () => {
  const ward = await writer(10_000);
  const { promise, resolve } = Promise.withResolvers<string>();
  const warden = new Warden({ free: () => scarce, measure: nothing, everyMs: 50 });
  warden.watch(ward, "environment", () => resolve("environment"));
  warden.watch(ward, "command", () => resolve("command"));
  expect(await promise).toBe("command");
});

test("a workspace is measured only when an eighth of what it may add has gone from the disk", async () => {
  const ward = newWard();
  const measured: (readonly string[])[] = [];
  const measure = (folders: readonly string[]) => {
    measured.push(folders);
    return Promise.resolve(500_000);
  };
  const used = (bytes: number) => ({ ...plenty, bytes: plenty.bytes - bytes });
  const { free, done } = looks(plenty, used(100_000), used(150_000), used(160_000));
  const stopped: LimitHit[] = [];
  const end = new Warden({ free, measure, everyMs: 2 }).watch(ward, "command", (limit) => stopped.push(limit));
  await done;
  end();
  expect({ measured, stopped }).toEqual({ measured: [ward.folders], stopped: [] });
});

test("an environment is stopped when it has added more than it may, whatever was there before", async () => {
  const held = [50_000_000, 50_900_000, 51_100_000];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const measure = () => Promise.resolve(held.shift());
  new Warden({ free: shrinking(), measure, everyMs: 2 }).watch(newWard(), "command", resolve);
  expect({ limit: await promise, left: held }).toEqual({ limit: "disk", left: [] });
});

test("an environment is stopped when its workspace is larger than it may be, however little it has added", async () => {
  const held = [50_000_000, 50_100_000, 50_300_000];
  const { promise, resolve } = Promise.withResolvers<LimitHit>();
  const measure = () => Promise.resolve(held.shift());
  const ward = newWard({ ...limits, workspaceBytes: 50_200_000 });
  new Warden({ free: shrinking(10_000_000), measure, everyMs: 2 }).watch(ward, "command", resolve);
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
  const warden = new Warden({ free: shrinking(), measure, everyMs: 2 });
  const ward = newWard();
  warden.watch(ward, "command", () => {
    stopped.push(ward.held!);
    warden.watch(ward, "command", () => stopped.push(ward.held!));
  });
  await promise;
  expect(stopped).toEqual([52_000_000]);
});

const scarce: Free = { ...plenty, bytes: 1e8 };
const nothing = () => Promise.resolve(0);

/** An environment in which nothing is written. */
function newWard(of = limits): Ward {
  const child = spawn("/bin/sleep", ["60"], { stdio: "ignore" });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  return new Ward({ supervisor: identify(child.pid!)!, limits: of, folders: ["/var/tmp"], memory: undefined });
}

function shrinking(by = 500_000): () => Free {
  let bytes = plenty.bytes;
  return () => ({ ...plenty, bytes: (bytes -= by) });
}
