import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openRoom } from "./room.ts";

test("no session gets a workspace when all of them take more than they may, and again when there is room", async () => {
  const home = mkdtempSync(join(tmpdir(), "corral-room-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  let most: number | null = 2 ** 20;
  const room = openRoom({ home, most: () => most });
  await room.mustBeLeft();
  mkdirSync(join(home, "workspaces/ses_a"), { recursive: true });
  writeFileSync(join(home, "workspaces/ses_a/large"), Buffer.alloc(2 ** 20));
  const later = openRoom({ home, most: () => most });
  await expect(later.mustBeLeft()).rejects.toMatchObject({
    code: "workspace.full",
    message: expect.stringMatching(/^Workspaces take 2 MiB, and may take 1\.$/) as string,
    hint: expect.stringContaining("workspace.totalMb") as string,
  });
  most = null;
  await later.mustBeLeft();
  most = 2 ** 20;
  rmSync(join(home, "workspaces/ses_a"), { recursive: true });
  await later.mustBeLeft();
});
