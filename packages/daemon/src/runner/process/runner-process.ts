import { CorralError } from "@corral/protocol";
import { type ChildProcess, fork } from "node:child_process";
import type { CapabilityName } from "../../capabilities/port.ts";
import type { FindReach } from "../../providers/index.ts";
import type { Secret, Secrets } from "../../secrets/index.ts";
import { type Assignment, notOpened, type Office, type RunEnd, type Running } from "../port.ts";
import { Heartbeat, type Pulse } from "./heartbeat.ts";
import { noteRunner } from "./left-runners.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { packed, unpacked } from "./packed.ts";

export interface RunnerProcessOptions {
  /** The program a runner process runs. */
  readonly entry: string;
  readonly home: string;
  /** How much runners say of themselves, until they are told otherwise. */
  readonly level: string;
  /** What runners have in their environment besides what the daemon has in its; undefined: what they have not. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** What runners mask in all they record and say. */
  readonly secrets?: Secrets;
  /** How the provider of a model is reached. */
  readonly reach?: FindReach;
  readonly onDefect: (what: string) => void;
  /** A line of a runner's log. */
  readonly onLine: (line: string) => void;
  /** What a runner printed, which no runner means to: the last words of one that breaks. */
  readonly onWords: (pid: number, words: string) => void;
  readonly pulse?: Pulse;
  /** The runtime that runs the program; the daemon's own unless told otherwise. */
  readonly runtime?: string;
}

/**
 * What runs make is soon garbage: a young heap of V8's own size only makes a runner larger, by some ten megabytes. So do its two
 * optimising compilers, by some twenty: a run waits for others nearly all of its time, and the baseline's code is fast enough.
 * That is made from a function's first calls on, for one or two megabytes: a tenth less to compute in a turn.
 */
const smallHeap = ["--max-semi-space-size=2", "--no-opt", "--no-maglev", "--no-lazy-feedback-allocation"];

const usualPulse: Pulse = { everyMs: 1_000, missed: 20, missedAtStart: 60 };

/** How long a killed process may take to end before nobody waits for it any more. */
const longestEndMs = 5_000;

interface HeldRun {
  readonly office: Office;
  readonly ended: PromiseWithResolvers<RunEnd>;
  /** Asked for and not answered yet. */
  readonly openings: Map<number, PromiseWithResolvers<void>>;
  /** Calls under way, to be aborted when nobody waits for them any more. */
  readonly calls: Map<number, AbortController>;
}

/**
 * One runner process, and the runs it was given.
 *
 * 1. It is alive until the first sign of the contrary: it did not come up, it ended, it does not answer.
 *    From then on it gets nothing more, and all its runs have ended as lost.
 * 2. A run ends once. What is asked for a run that has ended is refused.
 * 3. Sending never throws: what cannot be sent is lost with its run, what nobody reads with the process.
 * 4. `drain` and `close` come to an end whatever the process does.
 */
export class RunnerProcess {
  readonly #child: ChildProcess | undefined;
  readonly #onDefect: (what: string) => void;
  readonly #onLine: (line: string) => void;
  readonly #reach: FindReach | undefined;
  readonly #heartbeat: Heartbeat;
  readonly #runs = new Map<number, HeldRun>();
  readonly #exited = Promise.withResolvers<void>();
  readonly exited: Promise<void> = this.#exited.promise;
  #nextRun = 1;
  #nextRequest = 0;
  #lost: string | undefined;
  #lastWord: string | undefined;

  constructor(options: RunnerProcessOptions) {
    this.#onDefect = options.onDefect;
    this.#onLine = options.onLine;
    this.#reach = options.reach;
    this.#heartbeat = new Heartbeat(
      options.pulse ?? usualPulse,
      () => this.#send({ say: "ping" }),
      () => this.#kill("the runner process does not answer"),
    );
    this.#child = this.#launch(options);
    if (options.secrets !== undefined) this.tellSecrets(options.secrets.all);
  }

  get alive(): boolean {
    return this.#lost === undefined;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get load(): number {
    return this.#runs.size;
  }

  start(assignment: Assignment, office: Office): Running {
    const run = this.#nextRun++;
    const ended = Promise.withResolvers<RunEnd>();
    this.#runs.set(run, { office, ended, openings: new Map(), calls: new Map() });
    if (this.#lost !== undefined) this.#end(run, { kind: "lost", reason: this.#lost });
    this.#send({ say: "start", run, assignment });
    return {
      wake: () => this.#send({ say: "wake", run }),
      tell: (event) => this.#send({ say: "tell", run, event }),
      forgetRules: () => this.#send({ say: "rules-changed", run }),
      open: () => this.#open(run),
      ended: ended.promise,
    };
  }

  setLevel(level: string): void {
    this.#send({ say: "level", level });
  }

  tellSecrets(secrets: readonly Secret[]): void {
    this.#send({ say: "secrets", secrets });
  }

  forgetReaches(): void {
    this.#send({ say: "reaches-changed" });
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#send({ say: "drain" });
    await within(deadlineMs, Promise.all([...this.#runs.values()].map((run) => run.ended.promise)));
  }

  async close(): Promise<void> {
    this.#kill("the host was closed");
    if (await within(longestEndMs, this.exited)) return;
    this.#onDefect(`the runner process ${this.#child?.pid} was killed and has not ended`);
  }

  #launch({ entry, home, level, variables, onWords, runtime }: RunnerProcessOptions): ChildProcess | undefined {
    try {
      const child = fork(entry, ["--home", home], {
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        execArgv: [...smallHeap],
        env: { ...process.env, ...variables, CORRAL_LOG_LEVEL: level },
        ...(runtime === undefined ? {} : { execPath: runtime }),
      });
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding("utf8").on("data", (words: string) => onWords(child.pid ?? 0, words.trimEnd()));
      child.on("message", (message) => this.#hear(message as FromRunner));
      child.on("error", (error) => this.#fail(child, error));
      // Without a channel it is of no use to anybody.
      child.on("disconnect", () => child.kill("SIGKILL"));
      const forget = child.pid === undefined ? () => undefined : noteRunner(home, child.pid);
      child.on("exit", (code, signal) => {
        forget();
        this.#gone(`the runner process ended (${signal ?? code})`);
      });
      return child;
    } catch (error) {
      this.#gone(`the runner process was not started: ${String(error)}`);
      return undefined;
    }
  }

  /** A process that never came up has no end that could be told. */
  #fail(child: ChildProcess, error: Error): void {
    this.#onDefect(`a runner process failed: ${error.message}`);
    if (child.pid === undefined) this.#gone(`the runner process was not started: ${error.message}`);
  }

  #hear(message: FromRunner): void {
    this.#heartbeat.heard();
    switch (message.say) {
      case "ready":
      case "pong":
        return;
      case "log":
        return this.#onLine(message.line);
      case "broke":
        this.#lastWord = message.what;
        return this.#onDefect(`a runner process broke: ${message.what}`);
      case "reach":
        return void this.#tellReach(message.request, message.model);
      case "append":
        return this.#answer(message, (office) => office.append(message.events));
      case "promote":
        return this.#answer(message, (office) => office.promote(message.place));
      case "claim":
        return this.#answer(message, (office) => office.claimPlace());
      case "call":
        return this.#call(message);
      case "give-up":
        return this.#runs.get(message.run)?.calls.get(message.request)?.abort();
      case "deltas":
        for (const delta of message.deltas) this.#runs.get(message.run)?.office.emit(delta);
        return;
      case "opened":
        return this.#opened(message);
      case "ended":
        return this.#end(message.run, message.end);
    }
  }

  #open(run: number): Promise<void> {
    const held = this.#runs.get(run);
    if (held === undefined) return Promise.reject(notOpened({ kind: "drained" }));
    const request = (this.#nextRequest += 1);
    const answer = Promise.withResolvers<void>();
    held.openings.set(request, answer);
    this.#send({ say: "open", run, request });
    return answer.promise;
  }

  #opened({ run, request, problem }: Extract<FromRunner, { say: "opened" }>): void {
    const openings = this.#runs.get(run)?.openings;
    const answer = openings?.get(request);
    openings?.delete(request);
    if (problem === undefined) answer?.resolve();
    else answer?.reject(CorralError.fromProblem(problem));
  }

  async #tellReach(request: number, model: string): Promise<void> {
    try {
      if (this.#reach === undefined) throw new CorralError("model.unknown", "This host knows no providers.");
      this.#send({ say: "reached", request, reach: await this.#reach(model) });
    } catch (error) {
      const known = error instanceof CorralError ? error : new CorralError("internal", String(error));
      this.#send({ say: "reached", request, problem: known.toProblem() });
    }
  }

  #call(message: Extract<FromRunner, { say: "call" }>): void {
    const calls = this.#runs.get(message.run)?.calls;
    const waiting = new AbortController();
    calls?.set(message.request, waiting);
    this.#answer(message, (office) => {
      // What is not provided under this name is refused.
      const [name, ask] = [message.name as CapabilityName, unpacked(message.ask) as never];
      return office.call(name, ask, waiting).finally(() => calls?.delete(message.request));
    });
  }

  /** Not async: the office is asked in the order of the messages. */
  #answer({ run, request }: { run: number; request: number }, ask: (office: Office) => Promise<unknown>): void {
    const refuse = (reason: unknown) => {
      const problem = reason instanceof CorralError ? { problem: reason.toProblem() } : {};
      this.#send({ say: "refused", run, request, reason: String(reason), ...problem });
    };
    const office = this.#runs.get(run)?.office;
    if (office === undefined) return refuse("the run is over");
    Promise.try(ask, office).then(
      (answer) => this.#send({ say: "done", run, request, answer: packed(answer) }),
      refuse,
    );
  }

  #send(message: ToRunner): void {
    if (!this.alive || this.#child?.connected !== true) return;
    try {
      // A channel that breaks meanwhile is told by its closing.
      this.#child.send(message, () => undefined);
    } catch (error) {
      const reason = `a message to the runner could not be written: ${String(error)}`;
      if ("run" in message) this.#end(message.run, { kind: "lost", reason });
      else this.#kill(reason);
    }
  }

  #kill(reason: string): void {
    this.#lose(reason);
    this.#child?.kill("SIGKILL");
  }

  #gone(reason: string): void {
    const lastWord = this.#lastWord?.split("\n", 1)[0];
    this.#lose(lastWord === undefined ? reason : `the runner process broke: ${lastWord}`);
    this.#exited.resolve();
  }

  #lose(reason: string): void {
    this.#lost ??= reason;
    this.#heartbeat.end();
    for (const run of this.#runs.keys()) this.#end(run, { kind: "lost", reason });
  }

  #end(run: number, end: RunEnd): void {
    const held = this.#runs.get(run);
    for (const answer of held?.openings.values() ?? []) answer.reject(notOpened(end));
    for (const waiting of held?.calls.values() ?? []) waiting.abort();
    held?.ended.resolve(end);
    this.#runs.delete(run);
  }
}

/** Whether it came about in time. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(late.resolve, ms, false);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
