import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { SpawnedProcess } from "../../port.ts";
import { frame } from "./frames.ts";
import type { HandRequest } from "./hand.ts";
import { openPerlHand } from "./perl-hand.ts";

/** Processes whose answers the test gives. */
function played(): { processes: Played[]; spawn: () => SpawnedProcess } {
  const processes: Played[] = [];
  return {
    processes,
    spawn: () => {
      const process = play();
      processes.push(process);
      process.answer("+ready");
      return process;
    },
  };
}

interface Played extends SpawnedProcess {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly answer: (text: string) => void;
}

function play(): Played {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const { promise: ended, resolve } = Promise.withResolvers<{ exitCode: number }>();
  const kill = () => {
    stdout.end();
    resolve({ exitCode: 137 });
  };
  return { stdin, stdout, stderr, ended, kill, answer: (text) => void stdout.write(frame([Buffer.from(text)])) };
}

function request(path: string, more: Partial<HandRequest> = {}): HandRequest {
  return { words: ["stat", path], maxBytes: 100, timeoutMs: 60_000, ...more };
}

test("a late answer to a request that was given up is nobody else's", async () => {
  const { processes, spawn } = played();
  const hand = (await openPerlHand(spawn))!;
  const stop = new AbortController();
  const first = hand.ask(request("./first", { signal: stop.signal }));
  const second = hand.ask(request("./second"));
  stop.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
  processes[0]!.answer("+first");
  processes[0]!.answer("+second");
  expect((await second).toString()).toBe("second");
});

test("answers come in pieces and together", async () => {
  const { processes, spawn } = played();
  const hand = (await openPerlHand(spawn))!;
  const asked = ["./a", "./b", "./c"].map((path) => hand.ask(request(path)));
  await once(processes[0]!.stdin, "readable");
  const all = Buffer.concat(["+one", "-Permission denied\n", "+three"].map((text) => frame([Buffer.from(text)])));
  for (const piece of [all.subarray(0, 3), all.subarray(3, 6), all.subarray(6, 20), all.subarray(20)])
    processes[0]!.stdout.write(piece);
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map((each) => (each.status === "fulfilled" ? each.value.toString() : String(each.reason)))).toEqual([
    "one",
    "HandRefused: Permission denied",
    "three",
  ]);
});

test("an answer longer than it can be ends the process, and the next request starts another", async () => {
  const { processes, spawn } = played();
  const hand = (await openPerlHand(spawn))!;
  const asked = [hand.ask(request("./a")), hand.ask(request("./b"))];
  processes[0]!.answer(`+${"x".repeat(101)}`);
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map((each) => each.status)).toEqual(["rejected", "rejected"]);
  expect(await processes[0]!.ended).toEqual({ exitCode: 137 });
  const next = hand.ask(request("./c"));
  await expect.poll(() => processes.length).toBe(2);
  await once(processes[1]!.stdin, "readable");
  processes[1]!.answer("+fresh");
  expect((await next).toString()).toBe("fresh");
});

test("an answer that nobody asked for ends the process", async () => {
  const { processes, spawn } = played();
  await openPerlHand(spawn);
  processes[0]!.answer("+surprise");
  expect(await processes[0]!.ended).toEqual({ exitCode: 137 });
});

test("a process that takes too long is ended, and so is one without requests", async () => {
  const { processes, spawn } = played();
  const hand = (await openPerlHand(spawn, 1))!;
  expect(await processes[0]!.ended).toEqual({ exitCode: 137 });
  await expect(hand.ask(request("./a", { timeoutMs: 1 }))).rejects.toMatchObject({ why: "too slow" });
  expect(await processes[1]!.ended).toEqual({ exitCode: 137 });
});
