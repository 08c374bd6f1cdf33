/**
 * node shells.ts WHAT COUNT: what a command costs without Corral. `spawn` is a fresh bubblewrap for each, `shell` a bare
 * `sh` that stays, `start` a bubblewrap until its first program speaks. Prints one line of JSON: the median and the best.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

const [what = "", count = "100"] = process.argv.slice(2);
const workspace = mkdtempSync(join(tmpdir(), "floor-"));
const walls = [
  ["--unshare-all", "--die-with-parent", "--new-session"],
  // Without /etc there is neither awk nor cc, which are links to there, nor anybody's name.
  [
    "--ro-bind",
    "/usr",
    "/usr",
    "--ro-bind",
    "/etc",
    "/etc",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/sbin",
    "/sbin",
  ],
  ["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
  ["--bind", workspace, "/workspace", "--chdir", "/workspace"],
  ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
].flat();

try {
  const work = await workOf(what);
  for (let n = 0; n < 10; n++) await work();
  const times: number[] = [];
  for (let n = 0; n < Number(count); n++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  process.stdout.write(`${JSON.stringify({ median: times[Math.floor(times.length / 2)], best: times[0] })}\n`);
} finally {
  rmSync(workspace, { recursive: true, force: true });
}
process.exit(0);

async function workOf(name: string): Promise<() => Promise<unknown>> {
  switch (name) {
    case "spawn":
      return () =>
        once(spawn("bwrap", [...walls, "sh", "-c", "echo word"], { stdio: ["ignore", "pipe", "ignore"] }), "close");
    case "start":
      return async () => {
        const child = spawn("bwrap", [...walls, "sh", "-c", "echo ready; read -r word"], {
          stdio: ["pipe", "pipe", "ignore"],
        });
        await once(child.stdout, "data");
        child.stdin.end();
        void once(child, "close");
      };
    case "shell":
      return persistent(spawn("sh", [], { stdio: ["pipe", "pipe", "ignore"] }));
    default:
      throw new Error(`There is no floor ${JSON.stringify(name)}`);
  }
}

/** Writes the output to a file and tells when it is there, as little as can be done to keep streams apart. */
function persistent({ stdin, stdout }: ChildProcess): () => Promise<unknown> {
  const [into, from] = [stdin as Writable, stdout as Readable];
  return () => {
    into.write(`{ echo word; } >${workspace}/out 2>${workspace}/err; echo $?\n`);
    return once(from, "data");
  };
}
