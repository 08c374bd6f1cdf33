import { readFileSync } from "node:fs";
import type { Client } from "@corral/client";
import { CorralError } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { clientOf } from "./daemon.ts";
import { isAlive, recordedDaemon } from "./recorded.ts";
import { jsonLine } from "../terminal/output.ts";
import type { World } from "../world.ts";

const patienceMs = 120_000;

export const run: Run<typeof declared.stop> = async ({ now, json }, world) => {
  const kind = await endDaemon(world, now === true);
  if (json === true) world.out.write(jsonLine({ kind }));
  else world.err.write(`${outcomes[kind]}\n`);
  return 0;
};

const outcomes = {
  "not-running": "no daemon is running",
  stopped: "stopped",
  killed: "it did not answer and was killed",
} as const;

/** Asks the daemon of this home to end, and waits until it has. */
export async function endDaemon(
  { home, token, traceId }: Pick<World, "home" | "token" | "traceId">,
  now: boolean,
): Promise<keyof typeof outcomes> {
  const daemon = recordedDaemon({ home, token });
  if (daemon === undefined) return "not-running";
  const { pid } = daemon;
  const isSilent = (await ask(clientOf(daemon, traceId), pid, now)) === "silent";
  if (isSilent) kill(pid, home, now);
  await gone(pid);
  return isSilent ? "killed" : "stopped";
}

/** One that goes away while it is asked did what was wanted. */
async function ask(client: Client, pid: number, now: boolean): Promise<"asked" | "silent"> {
  const patience = AbortSignal.timeout(10_000);
  try {
    await client.daemon.stop({ now }, { signal: patience });
  } catch (error) {
    const isLeaving = error instanceof CorralError && ["daemon.stopping", "daemon.unreachable"].includes(error.code);
    if (isLeaving || !isAlive(pid)) return "asked";
    if (!patience.aborted) throw error;
    return "silent";
  }
  return "asked";
}

/** Nothing is lost by it: whatever was acknowledged is on disk. */
function kill(pid: number, home: string, now: boolean): void {
  const what = `The daemon (process ${pid}) does not answer`;
  if (!now)
    throw new CorralError("daemon.unreachable", what, {
      hint: "`corral stop --now` ends it by force; the next daemon continues its work",
    });
  if (!serves(pid, home))
    throw new CorralError("daemon.unreachable", `${what}, and it may not be the daemon of ${home}`, {
      hint: `Look at it with \`ps -fp ${pid}\`; \`kill -9 ${pid}\` ends it`,
    });
  process.kill(pid, "SIGKILL");
}

/** A number may have come to belong to a stranger, who must not be harmed. */
function serves(pid: number, home: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    const at = words.indexOf("--home");
    return at >= 0 && words[at + 1] === home;
  } catch {
    return false;
  }
}

/** Nothing tells of the end of a process that is not one's child, so it is looked for. */
async function gone(pid: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) throw stillThere(pid);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function stillThere(pid: number): CorralError {
  return new CorralError("daemon.running", `The daemon (process ${pid}) was asked to stop but still runs`, {
    hint: "`corral stop --now` does not wait for running work",
  });
}
