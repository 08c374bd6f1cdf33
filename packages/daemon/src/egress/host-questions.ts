import type { Target } from "./names.ts";

/** Whether the operator lets somebody go there; the signal says that nobody waits for it any more. */
export type AskHost = (target: Target, signal: AbortSignal) => Promise<boolean>;

interface Open {
  readonly answer: Promise<boolean>;
  readonly enough: AbortController;
  waiting: number;
}

const mostAtOnce = 5;
const mostRemembered = 1_000;

/**
 * Hosts on no list, as one place asks the operator about them.
 *
 * 1. However many connections want the same host, it is asked about once, and they share the answer.
 * 2. A no, or silence, is good for a while: a program that tries again and again does not ask again and again.
 * 3. No more than a few are open at once; others are refused meanwhile.
 * 4. When nobody waits for an answer any more, the question ends.
 */
export class HostQuestions {
  readonly #ask: AskHost;
  readonly #quietMs: number;
  readonly #open = new Map<string, Open>();
  /** Until when each is refused without asking. */
  readonly #refused = new Map<string, number>();

  constructor(ask: AskHost, quietMs = 60_000) {
    this.#ask = ask;
    this.#quietMs = quietMs;
  }

  async mayReach(target: Target, leaving: AbortSignal): Promise<boolean> {
    const key = `${target.host}:${target.port}`;
    if (leaving.aborted || (this.#refused.get(key) ?? 0) > performance.now()) return false;
    const open = this.#open.get(key) ?? this.#begin(key, target);
    if (open === undefined) return false;
    open.waiting += 1;
    const left = Promise.withResolvers<false>();
    const leave = () => left.resolve(false);
    leaving.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([open.answer, left.promise]);
    } finally {
      leaving.removeEventListener("abort", leave);
      open.waiting -= 1;
      if (open.waiting === 0) open.enough.abort();
    }
  }

  #begin(key: string, target: Target): Open | undefined {
    if (this.#open.size >= mostAtOnce) return undefined;
    const enough = new AbortController();
    const answer = this.#ask(target, enough.signal)
      .catch(() => false)
      .then((isAllowed) => {
        this.#open.delete(key);
        if (!isAllowed && !enough.signal.aborted) this.#remember(key);
        return isAllowed;
      });
    const open = { answer, enough, waiting: 0 };
    this.#open.set(key, open);
    return open;
  }

  #remember(key: string): void {
    if (this.#refused.size >= mostRemembered) this.#refused.clear();
    this.#refused.set(key, performance.now() + this.#quietMs);
  }
}
