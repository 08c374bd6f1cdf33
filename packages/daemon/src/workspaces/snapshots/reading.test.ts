import { expect, test } from "vitest";
import { onlyReads } from "./reading.ts";

test.each([
  "ls",
  "cat src/a.ts | head -n 20",
  "cd packages && ls -la; pwd",
  'grep -rn "some words" src || echo "none"',
  "find . -name '*.ts' -type f",
  "git status --short && git log --oneline -n 3",
  "rg --files | sort | wc -l",
])("%j only reads", (command) => {
  expect(onlyReads(command)).toBe(true);
});

test.each([
  "",
  "echo hi > file",
  "cat <<x",
  "echo $(rm file)",
  "echo `rm file`",
  "cat $FILE",
  "X=1 cat file",
  "ls & rm file",
  "ls && rm file",
  "(rm file)",
  "{ rm file; }",
  "ls | tee file",
  "find . -delete",
  "find . -exec rm x",
  "find . '-exec' rm",
  "sort -ofile file",
  "git diff --output=file",
  "git checkout file",
  "git -C . status",
  "./ls",
  "/bin/ls",
  "sed -n 1p file",
  "\\rm file",
  "echo hi\nrm file",
  "if true; then rm x; fi",
])("%j may write", (command) => {
  expect(onlyReads(command)).toBe(false);
});
