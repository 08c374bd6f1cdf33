import { randomBytes } from "node:crypto";
import type { CommandResult } from "@corral/protocol";
import type { CommandWatch } from "../limits/index.ts";
import { LiveOutput } from "./output.ts";
import type { Command } from "../port.ts";
import type { Spool } from "../spool/spool.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/** A command that has not ended yet, waiting or running, with everyone who waits for its result. */
export class PendingCommand {
  readonly id: string;
  readonly text: string;
  readonly timeoutMs: number;
  readonly result: Promise<CommandResult>;
  readonly #spool: Spool;
  readonly #followers: Follower[] = [];
  readonly #unlisten: (() => void)[] = [];
  readonly #resolve: (result: CommandResult) => void;
  readonly #reject: (error: unknown) => void;
  /** Where its text is, for its worker. */
  file = "";
  /** How often its worker was told. */
  timesTold = 0;
  /** How often its worker said that it has gone on without it. */
  timesAnswered = 0;
  /** What its worker is believed by. */
  readonly pass = newPass();
  /** Until when it may take is written down. */
  hasLimit = false;
  /** Asked for while it waited; done when it is sent. */
  abortAsked = false;
  watch: CommandWatch | undefined;
  #settled = false;

  constructor(command: Command, spool: Spool) {
    this.id = command.id;
    this.text = command.text;
    this.timeoutMs = command.timeoutMs;
    this.#spool = spool;
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Each follower hears the output from its beginning, whenever it came. */
  join(command: Command, onAbort: () => void): Promise<CommandResult> {
    if (command.onOutput !== undefined) this.#followers.push(new Follower(command.onOutput, this.#spool, this.id));
    const { signal } = command;
    if (signal?.aborted === true) onAbort();
    else if (signal !== undefined) {
      signal.addEventListener("abort", onAbort, { once: true });
      this.#unlisten.push(() => signal.removeEventListener("abort", onAbort));
    }
    return this.result;
  }

  follow(): void {
    for (const follower of this.#followers) follower.catchUp();
  }

  finish(result: CommandResult): void {
    if (this.#settled) return;
    this.#settle();
    this.#resolve(result);
    for (const follower of this.#followers) follower.finish(result);
  }

  fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    this.watch?.end();
    for (const unlisten of this.#unlisten) unlisten();
  }
}

class Follower {
  readonly #tell: NonNullable<Command["onOutput"]>;
  readonly #stdout: LiveOutput;
  readonly #stderr: LiveOutput;

  constructor(tell: NonNullable<Command["onOutput"]>, spool: Spool, id: string) {
    this.#tell = tell;
    this.#stdout = new LiveOutput(spool, id, "stdout");
    this.#stderr = new LiveOutput(spool, id, "stderr");
  }

  catchUp(): void {
    this.#say("stdout", () => this.#stdout.next({ last: false }));
    this.#say("stderr", () => this.#stderr.next({ last: false }));
  }

  finish(result: CommandResult): void {
    this.#say("stdout", () => this.#stdout.rest(result.stdout, result.stdoutBytes));
    this.#say("stderr", () => this.#stderr.rest(result.stderr, result.stderrBytes));
  }

  #say(stream: "stdout" | "stderr", read: () => string): void {
    const text = whatCanBeRead(read);
    if (text !== "") this.#tell(stream, text);
  }
}

/** Live output is a courtesy; the result tells the truth, or fails. */
function whatCanBeRead(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof SpoolUnreadable) return "";
    throw error;
  }
}

const passLength = 6;
let passes = "";

/** Drawn many at once: that takes as long as to draw one. */
export function newPass(): string {
  if (passes === "") passes = randomBytes(192 * passLength).toString("base64url");
  const pass = passes.slice(0, passLength);
  passes = passes.slice(passLength);
  return pass;
}
