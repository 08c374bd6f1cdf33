/**
 * node jailed-loops.ts URL LOOPS TURNS: loops side by side in one process, each command in a bubblewrap
 * of its own. Prints one line of JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Argv, runPrompt } from "./loop.ts";

const [url = "", loops = "20", turns = "10"] = process.argv.slice(2);
const workspaces = Array.from({ length: Number(loops) }, () => mkdtempSync(join(tmpdir(), "floor-")));

try {
  await side("[[shell: echo warm]]");
  const start = performance.now();
  const ran = await side(`[[repeat ${turns} shell: echo {n}]]`);
  const ms = performance.now() - start;
  process.stdout.write(`${JSON.stringify({ turns: ran, ms, rss: process.memoryUsage.rss() })}\n`);
} finally {
  for (const workspace of workspaces) rmSync(workspace, { recursive: true, force: true });
}
process.exit(0);

/** The prompt in every loop at once; the sum of their turns. */
async function side(prompt: string): Promise<number> {
  const ran = await Promise.all(workspaces.map((workspace) => runPrompt(url, prompt, jailed(workspace))));
  return ran.reduce((sum, count) => sum + count, 0);
}

function jailed(workspace: string): Argv {
  const walls = [
    ["--unshare-all", "--die-with-parent", "--new-session"],
    ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"],
    ["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
    ["--bind", workspace, "/workspace", "--chdir", "/workspace"],
    ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
  ].flat();
  return (command) => ["bwrap", ...walls, "sh", "-c", command];
}
