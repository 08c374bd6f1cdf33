import type { SessionId, TraceId } from "@corral/protocol";
import type { CallingRun } from "./port.ts";

/** A run as capabilities see it, in the hands of whoever ends it. */
export class RunScope implements CallingRun {
  readonly session: SessionId;
  traceId: TraceId | undefined;
  recorded: Promise<void> = Promise.resolve();
  readonly #over = new AbortController();
  readonly #afterwards: (() => Promise<void> | void)[] = [];

  readonly #onFailure: (error: unknown) => void;

  constructor(session: SessionId, onFailure: (error: unknown) => void) {
    this.session = session;
    this.#onFailure = onFailure;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  onEnd(then: () => Promise<void> | void): void {
    if (this.signal.aborted) void this.#do(then);
    else this.#afterwards.push(then);
  }

  /** Resolves when all that was to be done afterwards is done. Never rejects. */
  async end(): Promise<void> {
    this.#over.abort();
    for (const then of this.#afterwards.splice(0)) await this.#do(then);
  }

  async #do(then: () => Promise<void> | void): Promise<void> {
    try {
      await then();
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
