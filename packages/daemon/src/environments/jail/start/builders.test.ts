import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { identify, isAlive } from "../../system/process-identity.ts";
import { Builders } from "./builders.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) cleanUp();
});

describe("a builder that waits", () => {
  test("ends with its owner, even with one that was killed", async () => {
    const { owner, builder } = await ownerOfOne();
    // Itself, and the one that makes the FIFOs.
    await expect.poll(() => childrenOf(builder)).toHaveLength(1);
    const both = [builder, ...childrenOf(builder)].map((pid) => identify(pid)!);
    expect(both.map(isAlive)).toEqual([true, true]);
    owner.kill("SIGKILL");
    await expect.poll(() => both.map(isAlive)).toEqual([false, false]);
  });

  test("keeps its owner from nothing", () => {
    const { status } = spawnSync(process.execPath, node(prepares), { timeout: 60_000 });
    expect(status).toBe(0);
  });

  test("has nothing of its owner's: no variable, no descriptor, not its place", async () => {
    const folder = mkdtempSync(join(tmpdir(), "corral-builders-"));
    cleanUps.push(() => rmSync(folder, { recursive: true }));
    const secret = join(folder, "secret");
    writeFileSync(secret, "hunter2");
    const { owner, builder } = await ownerOfOne({ secret, cwd: folder });
    expect(opened(owner.pid!)).toContain(secret);
    await expect.poll(() => childrenOf(builder)).toHaveLength(1);
    for (const pid of [builder, ...childrenOf(builder)]) {
      // One that is just beginning has what it was begun with.
      await expect.poll(() => opened(pid).filter((each) => !/^(socket:|pipe:|\/dev\/null$)/.test(each))).toEqual([]);
      expect(readFileSync(`/proc/${pid}/environ`, "latin1")).toBe("");
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
    }
  });

  test("cannot be had in a process without descriptors, and that ends nobody", () => {
    const script = `
const { closeSync, openSync } = await import("node:fs");
const { Builders } = await import(${JSON.stringify(new URL("builders.ts", import.meta.url).href)});
const held = [];
try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
for (const fd of held.splice(0, 6)) closeSync(fd);
const builders = new Builders();
builders.prepare();
try { builders.take(); } catch (error) { process.exitCode = error.code === "descriptors.exhausted" ? 3 : 4; }
for (const fd of held) closeSync(fd);`;
    const limited = ["-c", 'ulimit -n 100; exec "$@"', "sh", process.execPath, ...node(script)];
    const { status, stderr } = spawnSync("/bin/sh", limited, { timeout: 60_000 });
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 3, stderr: "" });
  });

  test("is the one that is taken, and one that has ended is not", async () => {
    const builders = new Builders();
    const take = () => {
      const { process: child } = builders.take();
      cleanUps.push(() => child.kill("SIGKILL"));
      return child;
    };
    const before = children();
    builders.prepare();
    builders.prepare();
    const made = children().filter((pid) => !before.includes(pid));
    expect(made).toEqual([take().pid]);

    builders.prepare();
    const waiting = identify(children().find((pid) => ![...before, ...made].includes(pid))!)!;
    process.kill(waiting.pid, "SIGKILL");
    // Without a turn of the loop: nobody has told its owner.
    while (isAlive(waiting));
    const taken = take();
    expect(taken.pid).not.toBe(waiting.pid);
    expect(isAlive(identify(taken.pid!)!)).toBe(true);
  });
});

const prepares = `
const { Builders } = await import(${JSON.stringify(new URL("builders.ts", import.meta.url).href)});
new Builders().prepare();
`;

function node(script: string): string[] {
  return ["--input-type=module", "--eval", script];
}

/** Another process with a builder that waits. */
async function ownerOfOne({ secret = "/dev/null", cwd = "/" } = {}): Promise<{ owner: ChildProcess; builder: number }> {
  const tell = `
const { readFileSync } = await import("node:fs");
console.log(readFileSync("/proc/self/task/" + process.pid + "/children", "latin1"));
setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, node(prepares + tell), {
    cwd,
    env: { SECRET: "hunter2" },
    stdio: ["ignore", "pipe", "inherit", "ignore", "ignore", "ignore", "ignore", openSync(secret, "r")],
  });
  cleanUps.push(() => owner.kill("SIGKILL"));
  const [said] = (await once(owner.stdout!, "data")) as [Buffer];
  return { owner, builder: Number(said.toString("latin1").trim()) };
}

function opened(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
}

function children(): number[] {
  return childrenOf(process.pid);
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
}
