import type { ProcessIdentity } from "@corral/protocol";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultLimits } from "../plan/plan.ts";
import { commandOf, endProcess, identify, isAlive } from "../system/process-identity.ts";
import { WalledFolder } from "./folder.ts";

test("what is left in the session of who built a jail ends with it, and no stranger there", async () => {
  const place = mkdtempSync(join(tmpdir(), "corral-folder-"));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const folder = new WalledFolder(join(place, "env_one"));
  const script = "sleep 1000 & a=$!; tail -F env_one 2>/dev/null & echo $a $!; read x";
  const leader = spawn("sh", ["-c", script], { detached: true });
  const [said] = (await once(leader.stdout, "data")) as [Buffer];
  const [stranger, own] = said
    .toString()
    .trim()
    .split(/\s+/)
    .map((pid) => identify(Number(pid))!) as [ProcessIdentity, ProcessIdentity];
  onTestFinished(() => Promise.all([stranger, own].map(endProcess)).then(() => undefined));
  // Until it has become what it is to be, it is called as its leader is.
  await expect.poll(() => commandOf(own.pid)).toContain("env_one");
  folder.make({ limits: defaultLimits, cgroups: [], builder: identify(leader.pid!) });
  const ended = once(leader, "exit");
  await folder.endProcesses();
  await ended;
  expect([stranger, own].map(isAlive)).toEqual([true, false]);
});

test("a folder that is disowned has a whole record on file all the while", () => {
  const place = mkdtempSync(join(tmpdir(), "corral-folder-"));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const folder = new WalledFolder(join(place, "env"));
  folder.make({ limits: defaultLimits, cgroups: ["/one", "/two"] });
  expect(folder.hasOpener()).toBe(true);
  const before = openSync(join(folder.path, "record.json"), "r");
  onTestFinished(() => closeSync(before));
  folder.disown();
  // Who reads what was there before, a moment before the other is there, reads all of it.
  const records = [readFileSync(before, "utf8"), readFileSync(join(folder.path, "record.json"), "utf8")];
  const [was, is] = records.map((text) => JSON.parse(text) as { opener: unknown; cgroups: unknown });
  expect(was).toMatchObject({ opener: { pid: process.pid }, cgroups: ["/one", "/two"] });
  expect(is).toEqual({ ...was, opener: null });
  expect({ owned: folder.hasOpener(), limits: folder.limits(), files: readdirSync(folder.path) }).toEqual({
    owned: false,
    limits: defaultLimits,
    files: ["record.json"],
  });
});
