import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EnvironmentState, newId } from "@corral/protocol";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { planOf } from "../plan/plan.ts";
import type { Environment } from "../port.ts";
import { commandOf } from "../system/process-identity.ts";
import { makeOwnFolder } from "../walled/folder.ts";
import { jailOwner } from "../walled/index.ts";
import { openJailDriver } from "./jail.ts";

const isRoot = process.getuid?.() === 0;
const patience = { timeout: 60_000, interval: 20 };

test.skipIf(!isRoot)(
  "how a command ended on a full disk is told once there is room (needs root, for a small disk)",
  async () => {
    const { environment, disk, workspace } = await openOnSmallDisk();
    const ended = environment.shell.run({ id: "full", text: "cat /dev/zero >large; exit 3", timeoutMs: 600_000 });
    await vi.waitFor(() => expect(statfsSync(disk).bavail).toBe(0), patience);
    rmSync(join(workspace, "large"));
    expect(await ended).toMatchObject({ exitCode: 3, timedOut: false });
    const next = environment.shell.run({ id: "next", text: "echo well", timeoutMs: 60_000 });
    expect(await next).toEqual(expect.objectContaining({ exitCode: 0, stdout: "well\n" }));
    expect(await next).not.toHaveProperty("limit");
  },
);

test.skipIf(!isRoot)("on a full disk no jail is opened, and none is left (needs root, for a small disk)", async () => {
  const { environment, disk, home, open: opened } = await openOnSmallDisk();
  expect(() => writeFileSync(join(disk, "large"), Buffer.alloc(2 ** 22))).toThrow("ENOSPC");
  await expect(opened()).rejects.toMatchObject({
    code: "jail.unavailable",
    message: expect.stringContaining("the disk is full") as string,
    hint: expect.stringContaining("Make room") as string,
  });
  rmSync(join(disk, "large"));
  const open = readdirSync(join(home, "environments")).filter((name) => !name.startsWith("."));
  expect(open).toEqual([environment.state.id]);
  await (await opened()).end();
});

describe.skipIf(!isRoot)("a command for which there is no room (needs root, for a small disk)", () => {
  const noRoom = { exitCode: 143, stdout: "", stderr: "", timedOut: false, limit: "disk", shellRespawned: false };
  const ran = (text: string) => `echo ran >ran; ${text}`;

  test.each([0, 1])("ends at once, and never begins, where %i of its files can be made", async (left) => {
    const { environment, disk, workspace, home } = await openOnSmallDisk();
    const { shell } = environment;
    const spool = join(home, "environments", environment.state.id, "spool");
    await shell.run({ id: "first", text: "kept=value", timeoutMs: 60_000 });
    await isWrittenDown(spool, "first");
    // Where its limit would be written, which takes a file, too, once it has waited for a while.
    for (const id of ["it", "another"]) mkdirSync(join(spool, `${id}.limit`));
    const fillers = useUpFiles(disk, left);
    expect(await shell.run({ id: "it", text: ran("true"), timeoutMs: 600_000 })).toMatchObject(noRoom);
    expect(await shell.run({ id: "another", text: ran("true"), timeoutMs: 600_000 })).toMatchObject(noRoom);
    for (const file of fillers) rmSync(file);
    const next = await shell.run({ id: "next", text: "echo $kept; exit 3", timeoutMs: 60_000 });
    expect(next).toMatchObject({ exitCode: 3, stdout: "value\n", timedOut: false });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    const begun = readdirSync(spool).includes("it.out");
    expect({ begun, found: (await shell.find("it")).kind }).toEqual(
      left === 0 ? { begun: false, found: "absent" } : { begun: true, found: "done" },
    );
  });

  test("is told of where its text does not fit, and one that runs is joined there", async () => {
    const { environment, disk, workspace, home } = await openOnSmallDisk();
    const held = { id: "held", text: "mkfifo on; chmod 666 on; echo begun; read x <on; exit 5", timeoutMs: 600_000 };
    const begun = Promise.withResolvers<void>();
    environment.shell.run({ ...held, onOutput: () => begun.resolve() }).catch(() => undefined);
    await begun.promise;
    environment.detach();
    const { shell } = await reopened(home, environment.state);
    let fillers = useUpFiles(disk, 0);
    const joined = shell.run(held);
    execFileSync("/bin/sh", ["-c", "echo >on"], { cwd: workspace });
    for (const file of fillers) rmSync(file);
    expect(await joined).toMatchObject({ exitCode: 5, stdout: "begun\n" });
    fillers = useUpFiles(disk, 0);
    expect(await shell.run({ id: "it", text: ran("true"), timeoutMs: 600_000 })).toMatchObject(noRoom);
    for (const file of fillers) rmSync(file);
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });

  test("is told of when it was given up before, by who had no room to write that down", async () => {
    const { environment, disk, home } = await openOnSmallDisk();
    const spool = join(home, "environments", environment.state.id, "spool");
    await environment.shell.run({ id: "first", text: "true", timeoutMs: 60_000 });
    await isWrittenDown(spool, "first");
    environment.detach();
    writeFileSync(join(spool, "it.out"), "");
    const { shell } = await reopened(home, environment.state);
    const fillers = useUpFiles(disk, 0);
    expect(await shell.run({ id: "it", text: "true", timeoutMs: 600_000 })).toMatchObject(noRoom);
    for (const file of fillers) rmSync(file);
  });

  test("does not begin later by a word from before, when its text did not fit the second time", async () => {
    const { environment, disk, workspace, home } = await openOnSmallDisk();
    await environment.shell.run({ id: "first", text: "true", timeoutMs: 60_000 });
    const stopped = workerOf(environment.state.supervisor.pid);
    process.kill(stopped, "SIGSTOP");
    const long = { id: "it", text: ran(`: ${"x".repeat(2 ** 14)}`), timeoutMs: 600_000 };
    environment.shell.run(long).catch(() => undefined);
    environment.detach();
    const { shell } = await reopened(home, environment.state);
    const large = join(disk, "large");
    expect(() => writeFileSync(large, Buffer.alloc(2 ** 22))).toThrow("ENOSPC");
    expect(await shell.run(long)).toMatchObject(noRoom);
    rmSync(large);
    process.kill(stopped, "SIGCONT");
    expect(await shell.run({ id: "next", text: "exit 3", timeoutMs: 60_000 })).toMatchObject({ exitCode: 3 });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });

  test("and that was given up does not hold up a later one", async () => {
    const { environment, disk } = await openOnSmallDisk();
    const { shell, state } = environment;
    await shell.run({ id: "first", text: "true", timeoutMs: 60_000 });
    const stopped = workerOf(state.supervisor.pid);
    process.kill(stopped, "SIGSTOP");
    const large = join(disk, "large");
    expect(() => writeFileSync(large, Buffer.alloc(2 ** 22))).toThrow("ENOSPC");
    const abort = new AbortController();
    const aborted = shell.run({ id: "aborted", text: "true", timeoutMs: 600_000, signal: abort.signal });
    abort.abort();
    expect(await aborted).toMatchObject({ exitCode: 143 });
    process.kill(stopped, "SIGCONT");
    rmSync(large);
    const later = await shell.run({ id: "later", text: "exit 3", timeoutMs: 50_000 });
    expect(later).toMatchObject({ exitCode: 3, timedOut: false });
  });
});

async function reopened(home: string, state: EnvironmentState): Promise<Environment> {
  const found = await openJailDriver({ home }).reopen(state);
  if (found.kind !== "open") throw new Error("it did not live on");
  onTestFinished(() => found.environment.detach());
  return found.environment;
}

/** A worker says how a command ended before it makes the file for that. */
async function isWrittenDown(spool: string, id: string): Promise<void> {
  await vi.waitFor(() => expect(readFileSync(join(spool, `${id}.rc`), "utf8")).toBe("0\n"), patience);
}

/** All but so many; the files that did it. */
function useUpFiles(disk: string, left: number): string[] {
  const made: string[] = [];
  try {
    for (;;) {
      const file = join(disk, `filler-${made.length}`);
      writeFileSync(file, "");
      made.push(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  for (const file of made.splice(0, left)) rmSync(file);
  return made;
}

/** The first child of a keeper is the worker of its main shell. */
function workerOf(keeper: number): number {
  const children = readFileSync(`/proc/${keeper}/task/${keeper}/children`, "latin1")
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return children.find((pid) => commandOf(pid).some((word) => word.endsWith("worker.sh")))!;
}

async function openOnSmallDisk() {
  const disk = mkdtempSync(join(tmpdir(), "corral-small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,nr_inodes=2000,mode=0700", "tmpfs", disk]);
  const [workspace, home] = [join(disk, "workspace"), join(disk, "home")];
  makeOwnFolder(workspace, jailOwner());
  const open = () => openJailDriver({ home }).open(planOf({ id: newId("environment"), workspace }));
  const environment = await open();
  onTestFinished(async () => {
    await environment.end();
    execFileSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  });
  return { environment, open, disk, home, workspace };
}
