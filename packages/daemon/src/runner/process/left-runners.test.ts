import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { identify } from "../../environments/index.ts";
import { endLeftRunners, noteRunner } from "./left-runners.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "corral-runners-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

async function started(program = "sleep 1000"): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn("sh", ["-c", `exec ${program}`], { stdio: "ignore" });
  await once(child, "spawn");
  onTestFinished(() => void child.kill("SIGKILL"));
  return child as ChildProcess & { readonly pid: number };
}

const names = () => readdirSync(join(home, "runners"));

/** As if the daemon that noted it had been killed since. */
function killedDaemon(pid: number, other: object = {}): void {
  const file = join(home, "runners", `${pid}.json`);
  const noted = JSON.parse(readFileSync(file, "utf8")) as { runner: object; daemon: object };
  const daemon = { ...noted.daemon, startTime: "1" };
  writeFileSync(file, JSON.stringify({ daemon, runner: { ...noted.runner, ...other } }));
}

test("a stopped runner whose daemon was killed is ended by the next, which forgets it", async () => {
  const runner = await started();
  noteRunner(home, runner.pid);
  runner.kill("SIGSTOP");
  killedDaemon(runner.pid);
  await endLeftRunners(home);
  expect(await once(runner, "exit")).toEqual([null, "SIGKILL"]);
  expect(names()).toEqual([]);
});

test("one that is slow to learn of its daemon's end has the time to write down what people heard, and then ends by itself", async () => {
  const words = join(home, "words");
  const runner = await started(`sh -c 'sleep 0.3; echo heard >"${words}"'`);
  noteRunner(home, runner.pid);
  killedDaemon(runner.pid);
  const [ended] = await Promise.all([once(runner, "exit"), endLeftRunners(home)]);
  expect({ ended, words: readFileSync(words, "utf8") }).toEqual({ ended: [0, null], words: "heard\n" });
  expect(names()).toEqual([]);
});

test("one whose daemon lives is left alone, and so is a stranger that has the number by now", async () => {
  const [ours, stranger] = [await started(), await started()];
  noteRunner(home, ours.pid);
  noteRunner(home, stranger.pid);
  killedDaemon(stranger.pid, { startTime: "1" });
  await endLeftRunners(home);
  expect([identify(ours.pid), identify(stranger.pid)]).not.toContain(undefined);
  expect([ours, stranger].map(({ signalCode }) => signalCode)).toEqual([null, null]);
  expect(names()).toEqual([`${ours.pid}.json`]);
});

test("one that has ended is forgotten, and what is no such file keeps nobody from anything", async () => {
  const runner = await started();
  const forget = noteRunner(home, runner.pid);
  writeFileSync(join(home, "runners", "half.json"), '{"runner":');
  forget();
  await endLeftRunners(home);
  expect(names()).toEqual([]);
  await endLeftRunners(join(home, "nowhere"));
});

test("where nothing can be written a runner is not kept from running", async () => {
  const runner = await started();
  writeFileSync(join(home, "file"), "");
  noteRunner(join(home, "file"), runner.pid)();
});
