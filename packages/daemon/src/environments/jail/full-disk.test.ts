import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@corral/protocol";
import { expect, onTestFinished, test, vi } from "vitest";
import { planOf } from "../plan.ts";
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

async function openOnSmallDisk() {
  const disk = mkdtempSync(join(tmpdir(), "corral-small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", disk]);
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
