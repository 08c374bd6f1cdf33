import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-texts-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("of a text that did not fit nothing is left behind the next one", () => {
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const script = `
const { CommandTexts } = await import(${module("command-texts.ts")});
const { Spool } = await import(${module("../spool/spool.ts")});
const { readFileSync } = await import("node:fs");
const texts = new CommandTexts(new Spool(${JSON.stringify(folder)}));
let thrown;
try { texts.write("long", "x".repeat(1000)); } catch (error) { thrown = error.mayPass; }
const { file } = texts.write("short", "true");
console.log(JSON.stringify({ thrown, text: readFileSync(${JSON.stringify(folder)} + "/" + file, "utf8") }));`;
  // No file may become longer than 512 bytes.
  const limited = ["-c", 'ulimit -f 1; exec "$@"', "sh", process.execPath, "--input-type=module", "--eval", script];
  const { stdout } = spawnSync("/bin/sh", limited, { timeout: 60_000, encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual({ thrown: true, text: "true" });
});
