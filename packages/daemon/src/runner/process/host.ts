import { type ChildProcess, fork } from "node:child_process";
import type { Promotion } from "../../sessions/index.ts";
import type { Assignment, Office, RunEnd, RunnerHost, Running } from "../port.ts";
import type { FromRunner, ToRunner } from "./messages.ts";

export interface ProcessHostOptions {
  /** The program a runner process runs. */
  readonly entry: string;
  readonly home: string;
  /** How many runner processes share the sessions. */
  readonly size: number;
  readonly onDefect: (what: string) => void;
}

/**
 * Runs sessions in a few runner processes.
 *
 * 1. A runner holds nothing but what it was given: when it dies, its runs end as lost and nobody else notices.
 * 2. A runner ends by itself when its channel closes, so none outlives the daemon.
 * 3. Messages of one runner are handled in the order sent, so appends reach the log in order.
 */
export function openProcessHost(options: ProcessHostOptions): RunnerHost {
  const pool: RunnerProcess[] = [];
  for (let i = 0; i < options.size; i++) pool.push(new RunnerProcess(options));
  return {
    get processes() {
      return pool.filter((runner) => runner.alive).length;
    },
    start(assignment, office) {
      const place = pool.findIndex((runner) => !runner.alive);
      if (place >= 0) pool[place] = new RunnerProcess(options);
      const least = pool.reduce((a, b) => (b.load < a.load ? b : a));
      return least.start(assignment, office);
    },
    async drain(deadlineMs) {
      await Promise.all(pool.map((runner) => runner.drain(deadlineMs)));
    },
    async close() {
      await Promise.all(pool.map((runner) => runner.close()));
    },
  };
}

interface HeldRun {
  readonly office: Office;
  readonly ended: PromiseWithResolvers<RunEnd>;
}

class RunnerProcess {
  readonly #child: ChildProcess;
  readonly #runs = new Map<number, HeldRun>();
  readonly #exited = Promise.withResolvers<void>();
  #nextRun = 1;
  alive = true;

  constructor({ entry, home, onDefect }: ProcessHostOptions) {
    this.#child = fork(entry, ["--home", home], { stdio: ["ignore", "inherit", "inherit", "ipc"], execArgv: [] });
    this.#child.on("message", (message) => this.#hear(message as FromRunner));
    this.#child.on("error", (error) => onDefect(`a runner process failed: ${error.message}`));
    this.#child.on("exit", (code, signal) => this.#lost(`the runner process ended (${signal ?? code})`));
  }

  get load(): number {
    return this.#runs.size;
  }

  start(assignment: Assignment, office: Office): Running {
    const run = this.#nextRun++;
    const ended = Promise.withResolvers<RunEnd>();
    this.#runs.set(run, { office, ended });
    this.#send({ say: "start", run, assignment });
    return {
      wake: () => this.#send({ say: "wake", run }),
      tell: (event) => this.#send({ say: "tell", run, event }),
      ended: ended.promise,
    };
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#send({ say: "drain" });
    const rested = Promise.all([...this.#runs.values()].map((run) => run.ended.promise));
    const timer = Promise.withResolvers<void>();
    const timeout = setTimeout(timer.resolve, deadlineMs);
    await Promise.race([rested, timer.promise]);
    clearTimeout(timeout);
  }

  async close(): Promise<void> {
    if (!this.alive) return;
    this.#child.kill("SIGKILL");
    await this.#exited.promise;
  }

  #hear(message: FromRunner): void {
    if (message.say === "ready") return;
    const held = this.#runs.get(message.run);
    if (held === undefined) return;
    switch (message.say) {
      case "append":
        return this.#answer(message, held.office.append(message.events));
      case "promote":
        return this.#answer(message, held.office.promote(message.activity));
      case "deltas":
        for (const delta of message.deltas) held.office.emit(delta);
        return;
      case "ended":
        this.#runs.delete(message.run);
        held.ended.resolve(message.end);
    }
  }

  #answer({ run, request }: { run: number; request: number }, work: Promise<Promotion | void>): void {
    work.then(
      (promotion) => this.#send({ say: "done", run, request, ...(promotion && { promotion }) }),
      (error: unknown) => this.#send({ say: "refused", run, request, reason: String(error) }),
    );
  }

  #send(message: ToRunner): void {
    if (this.alive && this.#child.connected) this.#child.send(message);
  }

  #lost(reason: string): void {
    this.alive = false;
    for (const { ended } of this.#runs.values()) ended.resolve({ kind: "lost", reason });
    this.#runs.clear();
    this.#exited.resolve();
  }
}
