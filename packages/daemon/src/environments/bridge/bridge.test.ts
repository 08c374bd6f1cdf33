import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { BridgeKeeping } from "./bridge.ts";
import type { Environment } from "../port.ts";

type Fate = "taken" | "listens" | "breaks";

/** An environment in which programs meet their fates in order, and which knows how many there were. */
function environmentOf(...fates: Fate[]) {
  let spawned = 0;
  const spawn = async () => {
    spawned += 1;
    const fate = fates.shift() ?? "breaks";
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    if (fate === "listens") stderr.write("Listening on 127.0.0.1:47128 as 3.\n");
    const ended = fate === "listens" ? new Promise<never>(() => undefined) : Promise.resolve({ exitCode: 1 });
    // How it ended may be known before what it said was read.
    if (fate !== "listens") setImmediate(() => say(stderr, fate).end());
    if (fate !== "listens") setImmediate(() => stdout.resume().end());
    return { stdin, stdout, stderr, ended, kill: () => undefined };
  };
  return { environment: { spawn } as unknown as Environment, spawned: () => spawned };
}

function say(stream: PassThrough, fate: Fate): PassThrough {
  stream.write(fate === "taken" ? "Failed to open '127.0.0.1:47128': Address already in use\n" : "no such file\n");
  return stream;
}

test("the bridge of a process that has just ended is waited for until its port is free", async () => {
  const { environment, spawned } = environmentOf("taken", "taken", "listens");
  const bridge = new BridgeKeeping();
  await bridge.ready(environment);
  expect(spawned()).toBe(3);
  await bridge.ready(environment);
  expect(spawned()).toBe(3);
});

test("one that cannot be had for another reason is tried once before each command", async () => {
  const { environment, spawned } = environmentOf("breaks", "breaks", "taken", "listens");
  const bridge = new BridgeKeeping();
  const counts: number[] = [];
  for (let n = 0; n < 4; n++) {
    await bridge.ready(environment);
    counts.push(spawned());
  }
  expect(counts).toEqual([1, 2, 3, 4]);
});
