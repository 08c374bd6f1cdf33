import { CorralError } from "@corral/protocol";
import { closeSync, constants } from "node:fs";
import { uptime } from "node:os";
import { FifoListener } from "../spool/fifo-listener.ts";
import { askSignal } from "./index.ts";
import type { Spool } from "../spool/spool.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/** The keeper as its driver reaches it. */
export interface Keeper {
  signal(name: NodeJS.Signals): void;
  /** Ends the whole environment: the keeper does not answer. */
  kill(): void;
  /** The machine's clock as the keeper sees it, in seconds; without, it sees the same as everybody. */
  uptime?(): number | undefined;
  /** Looks whether its walls are as they were, and why it is ended where they are not. */
  breach?(): string | undefined;
}

/**
 * The connection to an environment's keeper, shared by its shells and spawned processes.
 *
 * 1. An open `here` tells the keeper that somebody holds the environment. It closes with this object or with this process.
 * 2. `words` reaches its end only when the keeper is gone. Everyone who waits on the connection is then told, once.
 * 3. A request is written to the spool before the keeper is signalled. Every request can be repeated.
 */
export class KeeperLine {
  readonly spool: Spool;
  readonly #keeper: Keeper;
  readonly #control: number;
  readonly #here: number;
  readonly #words: FifoListener;
  readonly #listeners = new Set<() => void>();
  readonly #leavers = new Set<(state: "gone" | "detached") => void>();
  #waiting = 0;
  #state: "open" | "gone" | "detached" = "open";

  /** Throws when the spool's FIFOs are not there or nobody is at their other end. */
  constructor(spool: Spool, keeper: Keeper) {
    this.spool = spool;
    this.#keeper = keeper;
    this.#control = spool.openControl();
    try {
      const [probe, here, words] = spool.openFifos(
        ["words", constants.O_WRONLY],
        ["here", constants.O_RDWR],
        ["words", constants.O_RDONLY],
      );
      closeSync(probe);
      this.#here = here;
      this.#words = new FifoListener(words, { onWords: () => this.#tell(), onEnd: () => this.#leave("gone") });
    } catch (error) {
      closeSync(this.#control);
      throw error;
    }
  }

  get state(): "open" | "gone" | "detached" {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** What times are written down by that the keeper reads. */
  uptime(): number {
    return this.#keeper.uptime?.() ?? uptime();
  }

  /** Throws when nothing more may begin in it. */
  mustBeWhole(): void {
    if (this.isOpen && this.#keeper.breach?.() !== undefined) throw this.gone("gone");
  }

  /** What those are told who wait for something in it. */
  gone(state: "gone" | "detached"): CorralError {
    const why = state === "gone" ? this.#keeper.breach?.() : undefined;
    if (why === undefined) return gone(state);
    return new CorralError("environment.gone", `The environment was ended: ${why}.`, { retry: "now" });
  }

  /** Throws when it cannot be written down. */
  ask(line: string): void {
    if (this.#state !== "open") throw this.gone(this.#state);
    this.spool.append(this.#control, `${line}\n`);
    this.#keeper.signal(askSignal);
  }

  /** Has it look after everything once more, should it have missed something. */
  poke(): void {
    if (this.isOpen) this.#keeper.signal(askSignal);
  }

  /** Ends the environment: it was meddled with, or its keeper does not answer. */
  giveUp(): void {
    if (!this.isOpen) return;
    this.#words.insist();
    this.#keeper.kill();
  }

  detach(): void {
    this.#leave("detached");
  }

  /** All of its processes have ended; whoever knows that need not wait until it is heard. */
  hasGone(): void {
    this.#leave("gone");
  }

  onLeave(listener: (state: "gone" | "detached") => void): () => void {
    this.#leavers.add(listener);
    return () => this.#leavers.delete(listener);
  }

  /**
   * Looks until there is an answer: now, whenever the keeper said something, and now and then. Rejects with what `look` throws, with
   * `environment.gone`, and after the deadline.
   */
  async answer<T>(look: () => T | undefined, { deadlineMs, slowestMs }: Waiting): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const deadline = performance.now() + deadlineMs;
    let delay = firstLookMs;
    let timer: NodeJS.Timeout | undefined;
    // Looking may open something, so nobody looks again once there is an answer.
    const stop = () => {
      clearTimeout(timer);
      this.#listeners.delete(hear);
    };
    const attempt = () => {
      try {
        const found = look();
        if (found !== undefined) {
          stop();
          resolve(found);
        } else if (this.#state !== "open") throw this.gone(this.#state);
        else if (performance.now() > deadline) throw gone("silent");
      } catch (error) {
        stop();
        reject(error);
      }
    };
    const tick = () => {
      delay = Math.min(slowestMs, delay * 1.5);
      timer = setTimeout(tick, delay);
      if (deadlineMs === Number.POSITIVE_INFINITY) timer.unref();
      else this.poke();
      attempt();
    };
    const hear = () => {
      attempt();
      if (deadlineMs === Number.POSITIVE_INFINITY || !this.#listeners.has(hear)) return;
      // What was said may come true a moment later.
      clearTimeout(timer);
      delay = firstLookMs;
      timer = setTimeout(tick, soonMs);
    };
    this.#listeners.add(hear);
    this.#keepAwake(1);
    tick();
    return promise.finally(() => this.#keepAwake(-1));
  }

  #keepAwake(more: number): void {
    this.#waiting += more;
    this.#words.keepAwake(this.#waiting > 0);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #leave(state: "gone" | "detached"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    closeSync(this.#control);
    closeSync(this.#here);
    this.#words.close();
    this.#tell();
    for (const leaver of [...this.#leavers]) leaver(state);
    this.#leavers.clear();
  }
}

interface Waiting {
  readonly deadlineMs: number;
  /** How long it waits at most before it looks by itself. */
  readonly slowestMs: number;
}

const firstLookMs = 2;
const soonMs = 1;

function gone(why: keyof typeof goneMessages, cause?: unknown): CorralError {
  return new CorralError("environment.gone", goneMessages[why], { retry: "never", cause });
}

/** What cannot be talked to is as good as gone, and is ended. */
export function goneIfUnreadable(error: unknown): unknown {
  return error instanceof SpoolUnreadable ? gone("unusable", error) : error;
}

const goneMessages = {
  gone: "The environment ended before the command did.",
  detached: "The environment was let go.",
  unusable: "The environment can no longer be talked to.",
  silent: "The environment does not answer.",
};
