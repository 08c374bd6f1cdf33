import type { RunnerHost } from "../port.ts";
import { type HostedRun, type RunWorld, startRun } from "../run.ts";

/** Runs sessions inside the daemon; for tests. */
export function openInlineHost(world: RunWorld): RunnerHost {
  const runs = new Set<HostedRun>();
  return {
    processes: 0,
    start(assignment, office) {
      const run = startRun(world, assignment, office);
      runs.add(run);
      void run.ended.then(() => runs.delete(run));
      return run;
    },
    async drain(deadlineMs) {
      for (const run of runs) run.drain();
      const all = Promise.all([...runs].map((run) => run.ended));
      await Promise.race([all, new Promise((resolve) => setTimeout(resolve, deadlineMs).unref())]);
    },
    close: () => Promise.resolve(),
  };
}
