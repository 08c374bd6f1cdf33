import { expect, test } from "vitest";
import { judge, shellUseOf } from "./index.ts";

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
  for (const command of commands) expect([command, shellUseOf(command).disturbance]).toEqual([command, disturbance]);
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

test.each([
  ["nothing", ["ls", "npm test", "x=1; echo $x", "set -eu; make", "python -c 1", "LANG=C sort a"]],
  ["folder", ["cd src", "cd src && ls", "make || exit 1"]],
  [
    "more",
    ["export A=b", "LANG=C", "set -o pipefail", "ulimit -n 9", "f() { :; }", ". ./x", ": $((LANG=1))", ": ${LANG:=C}"],
  ],
] as const)("what leaves %s changed in the shell", (leaves, commands) => {
  for (const command of commands) expect([command, shellUseOf(command).leaves]).toEqual([command, leaves]);
});

test("what the rules know to read, whatever shell it runs in, and what they do not", () => {
  const reading = ["ls -l src", "cat a | head -n 3", "rg 'a|b' src 2>/dev/null", "git status", "git log -3 && wc -l a"];
  const plain = [
    "sed -n 1,20p a",
    "find . -name '*.ts'",
    "timeout 5 cat a",
    "until test -e a; do sleep 1; done",
    "ls 2>&1",
  ];
  for (const command of [...reading, ...plain])
    expect([command, shellUseOf(command).onlyReads]).toEqual([command, true]);
  const writing = ["touch a", "npm test", "ls > a", "sed -i s/a/b/ a", "git commit", "find . -delete", "cat a | tee b"];
  const shells = [
    "cd src",
    "cd src && ls",
    "x=1",
    "echo $x",
    "echo `ls`",
    "ls &",
    "wait",
    "exit",
    "cat <<E\na\nE",
    "set -e",
  ];
  for (const command of [...writing, ...shells, "", "if"])
    expect([command, shellUseOf(command).onlyReads]).toEqual([command, false]);
});
