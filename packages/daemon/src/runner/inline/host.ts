import { endedRun, type Office, type RunEnd, type RunnerHost } from "../port.ts";
import { type HostedRun, type RunWorld, startRun } from "../run.ts";
import { WarmRuns } from "../warm.ts";

/**
 * Runs sessions inside the daemon; for tests. A run cannot be killed here: when the host closes, its
 * office is, so that it stops at the next thing it records.
 */
export function openInlineHost(world: RunWorld): RunnerHost {
  const warm = new WarmRuns(world.mostWarm);
  const runs = new Map<HostedRun, PromiseWithResolvers<RunEnd>>();
  let rest: RunEnd | undefined;
  const isClosed = () => rest?.kind === "lost";
  return {
    start(assignment, office) {
      if (rest !== undefined) return endedRun(rest);
      const ended = Promise.withResolvers<RunEnd>();
      try {
        const run = startRun({ ...world, warm }, assignment, openUntil(isClosed, office));
        runs.set(run, ended);
        void run.ended.then((end) => {
          runs.delete(run);
          ended.resolve(end);
        });
        return {
          wake: () => run.wake(),
          tell: (event) => run.tell(event),
          forgetRules: () => run.forgetRules(),
          open: () => run.open(),
          ended: ended.promise,
        };
      } catch (error) {
        const lost: RunEnd = { kind: "lost", reason: `defect: ${String(error)}` };
        return endedRun(lost);
      }
    },
    async drain(deadlineMs) {
      rest ??= { kind: "drained" };
      for (const run of runs.keys()) run.drain();
      const all = Promise.all([...runs.values()].map((ended) => ended.promise));
      await Promise.race([all, new Promise((resolve) => setTimeout(resolve, deadlineMs).unref())]);
    },
    close() {
      rest = { kind: "lost", reason: "the host was closed" };
      for (const ended of runs.values()) ended.resolve(rest);
      return Promise.resolve();
    },
    setLevel: () => undefined,
    forgetReaches: () => undefined,
    runners: () => [{ pid: process.pid, sessions: runs.size }],
  };
}

function openUntil(isClosed: () => boolean, office: Office): Office {
  const refused = () => Promise.reject(new Error("the host was closed"));
  return {
    append: (events) => (isClosed() ? refused() : office.append(events)),
    promote: (activity) => (isClosed() ? refused() : office.promote(activity)),
    claimPlace: () => (isClosed() ? refused() : office.claimPlace()),
    emit: (delta) => (isClosed() ? undefined : office.emit(delta)),
    call: (name, ask, how) => (isClosed() ? refused() : office.call(name, ask, how)),
  };
}
