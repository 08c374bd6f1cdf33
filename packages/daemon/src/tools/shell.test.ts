import type { CommandResult } from "@corral/protocol";
import { expect, test } from "vitest";
import { shellTool } from "./shell.ts";

const ended: CommandResult = {
  exitCode: 0,
  stdout: "said\n",
  stderr: "",
  stdoutBytes: 5,
  stderrBytes: 0,
  timedOut: false,
  shellRespawned: false,
};

test("the model reads what a command said and how it ended", () => {
  expect(shellTool.describe(ended)).toEqual({ outcome: "ok", text: "said\n" });
  expect(shellTool.describe({ ...ended, stdout: "" })).toEqual({ outcome: "ok", text: "(no output)" });
  expect(shellTool.describe({ ...ended, stderr: "no\n", exitCode: 2 })).toEqual({
    outcome: "error",
    text: "said\n\nstderr:\nno\n\n(exit code 2)",
  });
});

test.each([
  ["time", /stopped at the time limit/],
  ["output", /more output than one command may write/],
  ["disk", /limit of the disk/],
  ["memory", /limit of memory/],
  ["pids", /limit of processes/],
] as const)("the model is told of the limit of %s, also when the command went on", (limit, words) => {
  expect(shellTool.describe({ ...ended, limit })).toEqual({
    outcome: "error",
    text: expect.stringMatching(words) as string,
  });
});

test("a command whose time was up says so, as older records have it, too", () => {
  expect(shellTool.describe({ ...ended, exitCode: 143, timedOut: true }).text).toBe(
    "said\n\n(stopped at the time limit)\n(exit code 143)",
  );
});

test("a refused git config says why, and what to do instead", () => {
  const stderr = "error: could not write config file /workspace/.git/config: Device or resource busy\n";
  const { text } = shellTool.describe({ ...ended, exitCode: 4, stderr });
  expect(text).toContain("(.git/config cannot be changed in a jail, since git takes programs to run from it; `git -c");
  expect(shellTool.describe({ ...ended, exitCode: 1, stderr: "error: Device or resource busy\n" }).text).not.toContain(
    "git",
  );
});
