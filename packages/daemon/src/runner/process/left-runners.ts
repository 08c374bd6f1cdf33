import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProcessIdentity, processIdentity } from "@corral/protocol";
import * as z from "zod";
import { identify, isAlive, isStopped, signalProcess } from "../../environments/index.ts";

/**
 * Runners that are left when their daemon was killed. A runner ends by itself as soon as it learns of that; one that is stopped
 * learns of nothing, and let go on, it would first do what it had been told last, in an environment that another has by then. No
 * fence of the log's keeps it from that. So each is on file, and the next daemon ends it before it gives its sessions to others.
 */
const onFile = z.object({ runner: processIdentity, daemon: processIdentity });

/** Notes that a runner of this process's runs; where that cannot be written it runs all the same. Returns what forgets it. */
export function noteRunner(home: string, pid: number): () => void {
  const noted = { runner: identify(pid), daemon: identify(process.pid) };
  const file = join(folderOf(home), `${pid}.json`);
  try {
    mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(noted), { mode: 0o600 });
  } catch {
    return () => undefined;
  }
  return () => rmSync(file, { force: true });
}

/** Ends those whose daemon is no more. When it resolves none of them does anything any more. */
export async function endLeftRunners(home: string): Promise<void> {
  for (const name of namesIn(folderOf(home))) {
    const file = join(folderOf(home), name);
    const noted = onFile.safeParse(contentOf(file)).data;
    if (noted !== undefined && isAlive(noted.daemon)) continue;
    if (noted !== undefined) await end(noted.runner);
    rmSync(file, { force: true });
  }
}

/** Looks, not time: while the machine is so busy that this process stands still, so does the runner. */
const lookMs = 5;
const mostLooks = 1_000;

/**
 * A runner that learns of its daemon's end writes down first what people have heard and nobody has recorded, which on a busy machine may
 * take longer than the next daemon to come here. One that is stopped does not, and one that hangs is not waited for for ever.
 */
async function end(runner: ProcessIdentity): Promise<void> {
  for (let looks = 0; looks < mostLooks && isAlive(runner) && !isStopped(runner); looks++)
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  signalProcess(runner, "SIGKILL");
}

function folderOf(home: string): string {
  return join(home, "runners");
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Half a file, of a daemon that died while it wrote it, tells nothing: its runner has learnt of that. */
function contentOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
