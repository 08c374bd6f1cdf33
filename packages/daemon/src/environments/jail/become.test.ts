import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { planOf } from "../plan.ts";
import { becomeProgram } from "./become.ts";
import { openJailDriver } from "./jail.ts";

const canSwitch = process.getuid?.() === 0 && becomeProgram({ uid: 1, gid: 1 }) !== undefined;
const status = [
  "/bin/sh",
  "-c",
  'grep -E "^(Uid|Gid|Groups|Cap...|NoNewPrivs):" /proc/$$/status; echo "$0 $WORD"',
  "arg",
];

test.skipIf(!canSwitch)("who becomes another user keeps nothing of what it was (needs root on x86-64)", () => {
  const ids = (id: number) => Array.from({ length: 4 }, () => id).join("\t");
  const { stdout, status: code } = spawnSync(program(), status, { env: { WORD: "word" }, encoding: "utf8" });
  const none = ["Inh", "Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:\t${"0".repeat(16)}`);
  expect(stdout.split("\n").map((line) => line.trimEnd())).toEqual([
    `Uid:\t${ids(70_001)}`,
    `Gid:\t${ids(70_002)}`,
    "Groups:",
    ...none,
    "NoNewPrivs:\t1",
    "arg word",
    "",
  ]);
  expect(code).toBe(0);
});

test.skipIf(!canSwitch).each(["setuid", "setgid", "setpcap"])(
  "without the right to %s nothing runs (needs root on x86-64)",
  (right) => {
    const path = program();
    const run = (without: string) =>
      spawnSync("setpriv", [`--bounding-set=-${without}`, path, "/bin/echo", "ran"], { encoding: "utf8" });
    expect(run(right)).toMatchObject({ stdout: "", status: 126 });
    expect(run("chown")).toMatchObject({ stdout: "ran\n", status: 0 });
  },
);

test.skipIf(!canSwitch)("what cannot be run is told by its exit code (needs root on x86-64)", () => {
  expect(spawnSync(program(), ["/missing"])).toMatchObject({ status: 126 });
  expect(spawnSync(program(), [])).toMatchObject({ status: 126 });
});

test.skipIf(!canSwitch)(
  "where Corral's home lets no program run, a jail's user is become by setpriv (needs root)",
  async () => {
    const home = folder();
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", "noexec,mode=0700", "tmpfs", home]).status).toBe(0);
    onTestFinished(() => void spawnSync("umount", ["--lazy", home]));
    const driver = openJailDriver({ home });
    const workspace = join(home, "workspace");
    mkdirSync(workspace);
    spawnSync("chown", ["65533:65533", workspace]);
    for (const id of [newId("environment"), newId("environment")]) {
      const environment = await driver.open(planOf({ id, workspace }));
      onTestFinished(() => environment.end());
      const { stdout } = await environment.shell.run({
        id: "cmd_1",
        text: "grep -h CapBnd /proc/1/status; id -u",
        timeoutMs: 60_000,
      });
      expect(stdout).toBe(`CapBnd:\t${"0".repeat(16)}\n65533\n`);
    }
  },
);

function program(): string {
  const path = join(folder(), "become");
  writeFileSync(path, becomeProgram({ uid: 70_001, gid: 70_002 })!, { mode: 0o755 });
  return path;
}

/** Where programs can be run by everybody. */
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "corral-become-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
