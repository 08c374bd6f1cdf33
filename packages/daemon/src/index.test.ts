import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openShell } from "./index.ts";

test.each(["jail", "local"] as const)(
  "the state of a shell in %s may be named from where the program is",
  async (environment) => {
    const folder = mkdtempSync(join(tmpdir(), "corral-door-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await using shell = await openShell({ environment, folder: relative(process.cwd(), folder) });
    expect((await shell.run("echo on")).stdout).toBe("on\n");
    expect(shell.workspace).toBe(join(folder, "workspaces", shell.session));
  },
);
