import type { Client } from "@corral/client";
import { CorralError } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { clientOf } from "../daemon.ts";
import { isAlive, recordedDaemon } from "../recorded.ts";

const patienceMs = 120_000;

export const stop = defineCommand({
  name: "stop",
  usage: "stop [--now]",
  summary: "Stops the daemon and waits until it is gone.",
  details: `Without --now, running commands go on and are taken up again by the next daemon.`,
  examples: [
    ["corral stop", "the next command starts another daemon, which goes on with what was under way"],
    ["corral stop --now", "wait for nothing"],
  ],
  args: { now: { type: "boolean", description: "end running commands too" } },
  words: "none",
  async run({ now }, { home, err, traceId }) {
    const daemon = recordedDaemon(home);
    if (daemon === undefined) {
      err.write("no daemon is running\n");
      return 0;
    }
    await ask(clientOf(daemon, traceId), daemon.pid, now === true);
    await gone(daemon.pid);
    err.write("stopped\n");
    return 0;
  },
});

/** One that goes away while it is asked did what was wanted. */
async function ask(client: Client, pid: number, now: boolean): Promise<void> {
  try {
    await client.daemon.stop({ now }, { signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    const isLeaving = error instanceof CorralError && ["daemon.stopping", "daemon.unreachable"].includes(error.code);
    if (isLeaving) return;
    if (isAlive(pid)) throw error;
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
  return new CorralError("daemon.running", `The daemon (process ${pid}) was asked to stop but is still there`, {
    hint: "`corral stop --now` does not wait for running work",
  });
}
