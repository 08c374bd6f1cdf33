import type { Client } from "@corral/client";
import { type CommandView, CorralError, longestCommandText, type ShellView, type StartCommand } from "@corral/protocol";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ended, ShellLine } from "./shell-line.ts";
import { testWorld } from "../testing/world.ts";

const shell: ShellView = {
  id: "shl_1",
  environment: { kind: "jail", network: "off", access: "write" },
  workspace: "scratch",
  path: "/there",
  actor: "person:owner",
  state: "open",
  seq: 1,
};

test("lines pasted into a terminal that is then closed are all run, and nobody is asked for more", async () => {
  const { world, written } = testWorld("echo one\nfalse\n");
  Object.assign(world.stdin, { isTTY: true });
  const ran: string[] = [];
  const closed = Promise.withResolvers<void>();
  world.stdin.once("end", () => closed.resolve());
  const shells = {
    start: (_shell: unknown, { text }: StartCommand) => Promise.resolve(void ran.push(text)),
    // The first one lasts until there is no more input.
    follow: () => closed.promise.then(() => endedWith(ran.length === 1 ? 0 : 3)),
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  expect(await line.interact()).toBe(3);
  expect(ran).toEqual(["echo one", "false"]);
  expect(written.err).toMatch(/^A jail in an empty folder/);
});

describe("a line with which the shell ended", () => {
  /** Each line as it is run, where the second one ends with what is given. */
  async function linesRun(how: { isTTY: boolean; second: CommandView }) {
    const { world, written } = testWorld("cd /tmp\nfalse || exit 7\nrm -r *\n");
    Object.assign(world.stdin, { isTTY: how.isTTY });
    const ran: string[] = [];
    const shells = {
      start: async (_shell: unknown, { text }: StartCommand) => void ran.push(text),
      follow: async () => (ran.length === 2 ? how.second : endedWith(0)),
    };
    const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
    return { code: await line.interact(), ran, err: written.err };
  }

  test("is the last one that is taken from a pipe, and its exit code counts", async () => {
    expect(await linesRun({ isTTY: false, second: endedWith(7, { shellRespawned: true }) })).toEqual({
      code: 7,
      ran: ["cd /tmp", "false || exit 7"],
      err: "[this line ended the shell, or found it ended: none after it is run]\n",
    });
  });

  test("is the last one also where it is unknown how it ended", async () => {
    const second: CommandView = { id: "cmd_1", shell: shell.id, state: "unknown", reason: "It was killed." };
    expect(await linesRun({ isTTY: false, second })).toEqual({
      code: 1,
      ran: ["cd /tmp", "false || exit 7"],
      err: "[It was killed.]\n[this line ended the shell, or found it ended: none after it is run]\n",
    });
  });

  test("is followed by others from a person, who is told that the shell is a new one", async () => {
    const { ran, err } = await linesRun({ isTTY: true, second: endedWith(7, { shellRespawned: true }) });
    expect(ran).toEqual(["cd /tmp", "false || exit 7", "rm -r *"]);
    expect(err).toContain("[the shell is a new one: folder and variables are as at first]\n");
  });
});

test("each piped line runs where the one before it did, or not at all", async () => {
  const { world } = testWorld("cd build\ntrue\nrm -r *\n");
  const begun: StartCommand[] = [];
  const gone = new CorralError("environment.gone", "The shell has ended.", { retry: "never" });
  const shells = {
    async start(_shell: unknown, command: StartCommand) {
      if (begun.length === 2) throw gone;
      begun.push(command);
    },
    follow: async () => endedWith(0),
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  await expect(line.interact()).rejects.toBe(gone);
  expect(begun.map(({ after }) => after)).toEqual([undefined, begun[0]!.id]);
});

describe("lines as they come", () => {
  async function linesRun(input: string | Uint8Array, { isTTY }: { isTTY: boolean }) {
    const { world, written } = testWorld("");
    const stdin = Object.assign(Readable.from([input], { objectMode: false }), { isTTY });
    const ran: string[] = [];
    const shells = {
      start: async (_shell: unknown, { text }: StartCommand) => void ran.push(text),
      follow: async () => endedWith(0),
    };
    const line = new ShellLine({ shells } as unknown as Client, shell, { ...world, stdin }, undefined);
    const code = await line.interact().catch((error: unknown) => (error as Error).message);
    return { code, ran, err: written.err };
  }

  test("through a pipe end at a line feed alone", async () => {
    expect(await linesRun("echo a\u2028b\u2029c\r\necho d\re", { isTTY: false })).toMatchObject({
      ran: ["echo a\u2028b\u2029c", "echo d\re"],
      code: 0,
    });
  });

  test("through a pipe are run as they are, or not at all", async () => {
    expect(await linesRun(Buffer.from("echo 1\nrm a\xff\necho 3\n", "latin1"), { isTTY: false })).toMatchObject({
      ran: ["echo 1"],
      code: "line 2 is no UTF-8: it is not run, nor are those after it",
    });
  });

  test("from a person that are too long are not run, and the next one is", async () => {
    const long = "x".repeat(longestCommandText + 1);
    const { ran, code, err } = await linesRun(`${long}\necho on\n`, { isTTY: true });
    expect({ ran, code }).toEqual({ ran: ["echo on"], code: 0 });
    expect(err).toContain(
      "[it is longer than a command may be (200000 characters), and was not run. Put it into a file in the workspace, and run that]\n",
    );
  });
});

test("Ctrl-C pressed before a command has started ends it when it has", async () => {
  const { world, pressCtrlC } = testWorld("");
  const over = Promise.withResolvers<void>();
  let hasStarted = false;
  const meant = new Set<string | undefined>();
  const shells = {
    async start(_shell: unknown, { id }: StartCommand) {
      meant.add(id);
      pressCtrlC();
      await new Promise(setImmediate);
      hasStarted = true;
    },
    async interrupt(_shell: unknown, { command }: { command?: string }) {
      meant.add(command);
      if (hasStarted) over.resolve();
      return { kind: hasStarted ? "interrupted" : "nothing-running" };
    },
    follow: () => over.promise.then(() => endedWith(143)),
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  expect(await line.run("sleep 1000", { live: true })).toMatchObject({ interrupted: true, result: { exitCode: 143 } });
  // No other one in the same shell.
  expect([...meant]).toEqual([expect.stringMatching(/^cmd_/)]);
});

test("who presses again leaves a command, which goes on only where its shell does", async () => {
  const { world, pressCtrlC } = testWorld("");
  const shells = {
    start: async () => undefined,
    interrupt: async () => ({ kind: "interrupted" }),
    follow: (_shell: unknown, _id: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("left")));
        pressCtrlC();
        pressCtrlC();
      }),
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  const outcome = await line.run("sleep 1000", { live: true });
  expect(ended(outcome, { goesOn: true })).toMatch(/^\[left cmd_\w+ running in shl_1\]\n$/);
  expect(ended(outcome, { goesOn: false })).toBe("[it is ended with its shell]\n");
});

test("being told to end twice is as once: the command's end is waited for", async () => {
  const { world } = testWorld("");
  const over = Promise.withResolvers<void>();
  const shells = {
    start: async () => undefined,
    interrupt: async () => over.resolve(),
    follow: (_shell: unknown, _id: unknown, { signal }: { signal: AbortSignal }) => {
      line.end();
      line.end();
      return signal.aborted ? Promise.reject(new Error("left")) : over.promise.then(() => endedWith(143));
    },
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  expect(await line.run("sleep 1000", { live: true })).toMatchObject({ interrupted: true, result: { exitCode: 143 } });
});

test("a command whose output nobody takes any more is ended without what it has written yet", async () => {
  const { world } = testWorld("");
  const over = Promise.withResolvers<void>();
  const shells = {
    start: async () => undefined,
    interrupt: async () => over.resolve(),
    // It has more to tell than anybody could wait for.
    follow: (_shell: unknown, _id: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("left")));
        line.end({ isUnread: true });
      }),
    look: () => over.promise.then(() => endedWith(143)),
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  expect(await line.run("yes", { live: true })).toMatchObject({ interrupted: true, result: { exitCode: 143 } });
});

test("output that goes on arriving when a command was told to end is cut short, and that is said", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { world, pressCtrlC } = testWorld("");
  const shells = {
    start: async () => undefined,
    interrupt: async () => ({ kind: "nothing-running" }),
    follow: (_shell: unknown, _id: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("left")));
        pressCtrlC();
        vi.advanceTimersByTime(6_000);
      }),
    look: async () => endedWith(143),
  };
  const line = new ShellLine({ shells } as unknown as Client, shell, world, undefined);
  const outcome = await line.run("yes", { live: true });
  expect(outcome).toMatchObject({ interrupted: true, result: { exitCode: 143 } });
  expect(ended(outcome, { goesOn: true })).toBe("[the rest of its output is left out]\n");
});

function endedWith(exitCode: number, more: { shellRespawned?: boolean } = {}): CommandView {
  const result = {
    exitCode,
    stdout: "",
    stderr: "",
    stdoutBytes: 0,
    stderrBytes: 0,
    timedOut: false,
    shellRespawned: false,
    ...more,
  };
  return { id: "cmd_1", shell: shell.id, state: "ended", result };
}
