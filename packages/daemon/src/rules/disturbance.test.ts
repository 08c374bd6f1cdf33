import { expect, test } from "vitest";
import { disturbanceOf, judge } from "./index.ts";

test.each([
  ["none", ["ls", "git status", "npm test", "x=1", "python -c 1", "(true)", "set -e", "sh -c 'make'"]],
  ["moved", ["cd src", "pushd src", "cd", "true && cd /", "cd - || true"]],
  [
    "words",
    [
      "alias ls=rm",
      "ls() { rm a; }",
      ". ./x",
      "eval x",
      "PATH=.",
      "export PATH=x",
      "$X",
      "exec ls",
      "set -a",
      "if",
      "cd src; alias ls=rm",
    ],
  ],
] as const)("what leaves the shell with %s disturbed", (disturbance, commands) => {
  for (const command of commands) expect([command, disturbanceOf(command)]).toEqual([command, disturbance]);
});

test("a disturbed shell is not taken at its word", () => {
  const situation = { environment: "local", workspace: "copy", folder: "/workspace" } as const;
  const verdict = (command: string, disturbedShell: "none" | "moved" | "words") =>
    judge(
      { tool: "shell", effect: "writes", command, disturbedShell },
      { mode: "ask", situation, rules: [], problems: [] },
    ).verdict;
  expect([verdict("cat a", "none"), verdict("cat a", "moved"), verdict("cat /workspace/a", "moved")]).toEqual([
    "allow",
    "ask",
    "allow",
  ]);
  expect([verdict("echo a", "moved"), verdict("echo a", "words")]).toEqual(["allow", "ask"]);
});
