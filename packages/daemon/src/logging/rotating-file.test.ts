import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { RotatingFile } from "./rotating-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-logging-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const open = (path = join(folder, "logs", "daemon.log")) =>
  new RotatingFile(path, { maxBytes: 20, maxFiles: 3 }, (lost) => `lost ${lost}\n`);

const files = () =>
  Object.fromEntries(
    readdirSync(join(folder, "logs")).map((name) => [name, readFileSync(join(folder, "logs", name), "utf8")]),
  );

test("nothing is made before the first line, and then it is the owner's alone", () => {
  const file = open();
  expect(readdirSync(folder)).toEqual([]);
  file.write("one\n");
  expect(statSync(join(folder, "logs", "daemon.log")).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "logs")).mode & 0o777).toBe(0o700);
  file.close();
});

test("a full file is put aside, and the oldest goes", () => {
  const file = open();
  for (let number = 1; number <= 9; number++) file.write(`line number ${number}\n`);
  file.close();
  expect(files()).toEqual({
    "daemon.log": "line number 9\n",
    "daemon.1.log": "line number 8\n",
    "daemon.2.log": "line number 7\n",
  });
});

test("another process goes on where one ended, and a line longer than a file has one of its own", () => {
  const first = open();
  first.write("short\n");
  first.close();
  const second = open();
  second.write("short too\n");
  second.write(`${"x".repeat(50)}\n`);
  second.write("after\n");
  second.close();
  expect(files()).toEqual({
    "daemon.log": "after\n",
    "daemon.1.log": `${"x".repeat(50)}\n`,
    "daemon.2.log": "short\nshort too\n",
  });
});

test("a line that was cut off does not spoil the next one", () => {
  const file = open();
  file.write("whole\n");
  file.close();
  appendFileSync(join(folder, "logs", "daemon.log"), "cut o");
  file.write("next\n");
  file.close();
  expect(files()).toEqual({ "daemon.log": "whole\ncut o\nnext\n" });
});

test("lines that cannot be written are counted and told of later", () => {
  const blocked = join(folder, "logs");
  execFileSync("touch", [blocked]);
  const file = open();
  file.write("one\n");
  file.write("two\n");
  rmSync(blocked);
  file.write("three\n");
  file.close();
  expect(files()).toEqual({ "daemon.log": "lost 2\nthree\n" });
});

test("a writer that is killed right after a line has written it whole", () => {
  const module = new URL("rotating-file.ts", import.meta.url).pathname;
  const script = `
    import { RotatingFile } from ${JSON.stringify(module)};
    const file = new RotatingFile(${JSON.stringify(join(folder, "logs", "daemon.log"))}, { maxBytes: 1e6, maxFiles: 2 }, String);
    for (let n = 0; n < 100; n++) file.write(n + "\\n");
    process.kill(process.pid, "SIGKILL");
  `;
  expect(spawnSync(process.execPath, ["--input-type=module", "-e", script]).signal).toBe("SIGKILL");
  expect(files()).toEqual({ "daemon.log": Array.from({ length: 100 }, (_, n) => `${n}\n`).join("") });
});
