import { spawn as startProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SpawnOptions, SpawnedProcess } from "../port.ts";
import { describeFiles, type FilesUnderTest, race } from "./conformance.ts";
import { openFiles } from "./files.ts";

describeFiles("a folder with all tools", { open: () => openFolder(() => process.env["PATH"]!) });
describeFiles("a folder with the tools that are everywhere", { open: () => openFolder((place) => toolsIn(place)) });
/** Path of a busybox with all its tools, where there is one to try. */
const busybox = process.env["CORRAL_BUSYBOX"];
if (busybox !== undefined) {
  describeFiles("a folder with busybox", {
    open: () => openFolder((place) => toolsIn(place, busybox)),
  });
}

test("without walls, somebody who swaps folders and links does get there", async () => {
  const { spawn, close } = await openFolder(() => process.env["PATH"]!);
  const outside = mkdtempSync(join(tmpdir(), "corral-outside-"));
  writeFileSync(join(outside, "secret"), "secret");
  const files = openFiles({ spawn });
  expect(await race({ files, spawn, outside, rounds: 20_000 })).toEqual({ read: true, written: true });
  await files.close();
  await close();
  rmSync(outside, { recursive: true });
});

test.each([
  ["rg", false],
  ["find", false],
  ["xargs", true],
])("what was found until %s was killed is not told as all there is", async (killed, globs) => {
  const { spawn, close } = await openFolder((place) => {
    const folder = toolsIn(place);
    rmSync(join(folder, killed), { force: true });
    writeFileSync(join(folder, killed), "#!/bin/sh\nkill -9 $$\n", { mode: 0o755 });
    return folder;
  });
  const files = openFiles({ spawn });
  await files.write("file", "text");
  expect(await files.glob("**")).toEqual({ items: globs ? ["file"] : [], complete: globs });
  expect(await files.search({ pattern: "text" })).toEqual({ items: [], complete: false });
  await files.close();
  await close();
});

test.each([
  ["too old for what it is asked", "echo 'error: unrecognized flag --no-ignore-exclude' >&2; exit 2"],
  ["made for another machine", "echo 'exec format error' >&2; exit 126"],
])("a ripgrep that is %s is done without", async (_, script) => {
  const { spawn, close } = await openFolder((place) => {
    const folder = toolsIn(place);
    writeFileSync(join(folder, "rg"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return folder;
  });
  const files = openFiles({ spawn });
  await files.write("src/file", "some text");
  await files.write(".gitignore", "ignored");
  await files.write("ignored", "some text");
  expect(await files.glob("**")).toEqual({ items: [".gitignore", "src/file"], complete: true });
  const found = { items: [{ path: "src/file", line: 1, text: "some text" }], complete: true };
  expect(await files.search({ pattern: "t[e]xt" })).toEqual(found);
  await expect(files.search({ pattern: "a(b" })).rejects.toMatchObject({ code: "request.invalid" });
  await files.close();
  await close();
});

/** No walls: processes of this machine, in a folder of their own. */
async function openFolder(pathOf: (place: string) => string): ReturnType<FilesUnderTest["open"]> {
  const place = mkdtempSync(join(tmpdir(), "corral-files-"));
  const workspace = join(place, "workspace");
  mkdirSync(workspace);
  const path = pathOf(place);
  return {
    spawn: (program) => startIn(workspace, path, program),
    close: async () => rmSync(place, { recursive: true, force: true }),
  };
}

function startIn(workspace: string, path: string, { argv, variables, signal }: SpawnOptions): SpawnedProcess {
  const [program, ...options] = argv;
  const child = startProcess(program, options, {
    cwd: workspace,
    env: { PATH: path, ...variables },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const kill = (): void => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  };
  signal?.addEventListener("abort", kill);
  const ended = new Promise<{ exitCode: number }>((resolve) => {
    child.once("exit", (code) => resolve({ exitCode: code ?? 137 }));
    child.once("error", () => resolve({ exitCode: 127 }));
  });
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, kill };
}

/** A PATH without perl and ripgrep. */
function toolsIn(place: string, program?: string): string {
  const folder = join(place, "tools");
  mkdirSync(folder);
  for (const tool of tools) symlinkSync(program ?? `/usr/bin/${tool}`, join(folder, tool));
  return folder;
}

const tools = (
  "sh cat chmod chown dd find grep head link ln ls mkdir mkfifo mv printf readlink rm seq sha256sum stat tail touch tr truncate wc xargs" +
  " kill true"
).split(" ");
