import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const passing = `
  import { fault, faultWith } from ${JSON.stringify(new URL("fault.ts", import.meta.url).href)};
  process.on("exit", () => console.log("tidied up"));
  for (const point of ["merge.moved", "merge.recorded", "merge.moved"]) {
    fault(point);
    console.log(point);
  }
  faultWith("desk.sending", [{ type: "turn.prepared" }, { type: "turn.attempt-failed" }]);
`;

const passed = (wish?: string, more: Record<string, string> = {}) => {
  const { CORRAL_FAULT: _, ...variables } = process.env;
  const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", passing], {
    env: { ...variables, ...more, ...(wish === undefined ? {} : { CORRAL_FAULT: wish }) },
    encoding: "utf8",
  });
  return { lines: stdout.trim().split("\n"), signal };
};

test("a process dies without a word the Nth time it passes the point named", () => {
  expect(passed("merge.moved:2")).toEqual({ lines: ["merge.moved", "merge.recorded"], signal: "SIGKILL" });
});

test("each event that passes a place has a point of its own", () => {
  const lines = ["merge.moved", "merge.recorded", "merge.moved"];
  expect(passed("desk.sending.turn.attempt-failed:1")).toEqual({ lines, signal: "SIGKILL" });
});

test("a file can name the point, or one after the other, and of several processes one alone dies of each", () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-fault-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "fault");
  const named = { CORRAL_FAULT_FILE: file };
  expect(passed(undefined, named).signal).toBeNull();
  writeFileSync(file, "merge.moved:2");
  expect(passed(undefined, named)).toEqual({ lines: ["merge.moved", "merge.recorded"], signal: "SIGKILL" });
  expect(existsSync(file)).toBe(false);
  expect(passed(undefined, named).signal).toBeNull();
  writeFileSync(file, "merge.recorded:1\nmerge.moved:2");
  expect(passed(undefined, named)).toEqual({ lines: ["merge.moved"], signal: "SIGKILL" });
  expect(passed(undefined, named)).toEqual({ lines: ["merge.moved", "merge.recorded"], signal: "SIGKILL" });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([undefined, "", "merge.moved", "merge.moved:3", "merge.other:1"])("with %s it goes on", (wish) => {
  expect(passed(wish)).toEqual({
    lines: ["merge.moved", "merge.recorded", "merge.moved", "tidied up"],
    signal: null,
  });
});
