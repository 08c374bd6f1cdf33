import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endProcess, identify, isAlive, signal } from "./process-identity.ts";

async function started() {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, identity: identify(child.pid!)! };
}

test.each([
  ["was started at another time", { startTime: "1" }],
  ["runs since another start of the machine", { bootId: "another" }],
])("a process under a number on record that %s is a stranger, and nobody harms it", async (_, other) => {
  const { child, identity } = await started();
  const stale = { ...identity, ...other };
  expect([isAlive(identity), isAlive(stale)]).toEqual([true, false]);
  expect(signal(stale, "SIGKILL")).toBe(false);
  await endProcess(stale);
  expect([child.exitCode, child.signalCode, isAlive(identity)]).toEqual([null, null, true]);
});

test("a process on record is ended, also one that cares for no TERM, and ending it again is harmless", async () => {
  const child = spawn("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  const identity = identify(child.pid!)!;
  expect(signal(identity, "SIGTERM")).toBe(true);
  expect(isAlive(identity)).toBe(true);
  await Promise.all([endProcess(identity), once(child, "exit")]);
  await endProcess(identity);
  expect([isAlive(identity), identify(child.pid!)]).toEqual([false, undefined]);
});
