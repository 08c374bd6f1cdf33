import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { identify } from "../system/process-identity.ts";
import { isHiding, processesOf } from "./processes.ts";

const numbers = process.arch === "arm64" ? { exit: 93, prctl: 167 } : { exit: 60, prctl: 157 };

/** Of root nothing is hidden. */
test.skipIf(process.getuid?.() === 0).each([
  ["that has ended, and that nobody has collected, does not hide", "fork || exit", false],
  [
    "whose first thread has ended hides the others",
    `use threads; threads->create(sub { sleep 60 }); syscall ${numbers.exit}, 0`,
    true,
  ],
  ["that says so hides", `syscall ${numbers.prctl}, 4, 0, 0, 0, 0`, true],
])("a process %s (needs an ordinary user)", async (_, text, hides) => {
  const child = spawn("/bin/sh", ["-c", 'perl -e "$0"; :', `${text}; sleep 60`], { stdio: "ignore", detached: true });
  onTestFinished(async () => {
    process.kill(-child.pid!, "SIGKILL");
    await once(child, "close");
  });
  const supervisor = identify(child.pid!)!;
  await expect.poll(() => processesOf(supervisor).some((pid) => !isShown(pid))).toBe(true);
  expect(isHiding(processesOf(supervisor))).toBe(hides);
});

function isShown(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/io`, "latin1") !== "";
  } catch {
    return false;
  }
}
