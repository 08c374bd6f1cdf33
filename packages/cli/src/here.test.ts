import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderHere } from "./here.ts";
import { version } from "./version.ts";

test("who was started in a folder that is gone is told so, by what needs it", () => {
  const gone = () => {
    throw new Error("ENOENT: uv_cwd");
  };
  expect(() => folderHere(gone)).toThrow(
    expect.objectContaining({ code: "project.missing", hint: expect.stringContaining("`cd`") }),
  );
  const folder = mkdtempSync(join(tmpdir(), "corral-gone-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inGone = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
  const corral = [process.execPath, join(import.meta.dirname, "main.ts"), "--version"];
  const said = execFileSync("/bin/sh", ["-c", inGone, ...corral], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  expect(said.toString()).toBe(`${version}\n`);
});
