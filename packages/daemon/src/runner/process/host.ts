import { endedRun, type RunEnd, type RunnerHost, type Running } from "../port.ts";
import { RunnerProcess, type RunnerProcessOptions } from "./runner-process.ts";

export interface ProcessHostOptions extends RunnerProcessOptions {
  /** How many runner processes share the sessions. */
  readonly size: number;
  /** Called when a runner process has ended, whyever: what it had started may be left. */
  readonly onEnded?: () => void;
}

/**
 * Runs sessions in a few runner processes.
 *
 * 1. A runner holds nothing but what it was given: when it dies or hangs, its runs end as lost and nobody else notices.
 * 2. A runner ends by itself when its channel closes, so none outlives the daemon; one that could not notice is ended by the next (`left-runners.ts`).
 * 3. Messages of one runner are handled in the order sent, so appends reach the log in order.
 * 4. Once the host is brought to rest, nothing is started any more: what is given to it ends at once.
 * 5. A session that is to have no company gets a runner to itself, which ends with its run.
 */
export function openProcessHost(options: ProcessHostOptions): RunnerHost {
  let { level } = options;
  /** Killed ones too, until they have ended. */
  const running = new Set<RunnerProcess>();
  const pool = Array.from({ length: options.size }, launch);
  let rest: RunEnd | undefined;
  options.secrets?.onLearn((all) => {
    for (const runner of running) runner.tellSecrets(all);
  });
  return {
    start(assignment, office): Running {
      if (rest !== undefined) return endedRun(rest);
      if (assignment.company === "none") {
        const own = launch();
        const run = own.start(assignment, office);
        void run.ended.then(() => own.close());
        return run;
      }
      for (const [place, runner] of pool.entries()) if (!runner.alive) pool[place] = launch();
      const least = pool.reduce((a, b) => (b.load < a.load ? b : a));
      return least.start(assignment, office);
    },
    async drain(deadlineMs) {
      rest ??= { kind: "drained" };
      await Promise.all([...running].map((runner) => runner.drain(deadlineMs)));
    },
    async close() {
      rest = { kind: "lost", reason: "the host was closed" };
      await Promise.all([...running].map((runner) => runner.close()));
    },
    setLevel(wish) {
      level = wish;
      for (const runner of running) runner.setLevel(wish);
    },
    forgetReaches() {
      for (const runner of running) runner.forgetReaches();
    },
    runners: () => [...running].filter(({ alive }) => alive).map(({ pid, load }) => ({ pid, sessions: load })),
  };

  function launch(): RunnerProcess {
    const runner = new RunnerProcess({ ...options, level });
    running.add(runner);
    void runner.exited.then(() => {
      running.delete(runner);
      options.onEnded?.();
    });
    return runner;
  }
}
