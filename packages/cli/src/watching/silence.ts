import type { DaemonStatus } from "@corral/protocol";
import { size } from "../terminal/figures.ts";

/** Less room than this is too little for the log to go on. */
const leastFree = 8 * 2 ** 20;

/** Says why nothing is heard of a session, where the daemon can tell: it waits for room on a full disk without an event, for none can be stored. */
export class Silence {
  readonly #status: () => Promise<Pick<DaemonStatus, "disk" | "home">>;
  readonly #say: (line: string) => void;
  readonly #afterMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isTold = false;

  constructor(
    status: () => Promise<Pick<DaemonStatus, "disk" | "home">>,
    say: (line: string) => void,
    { afterMs = 5_000 }: { readonly afterMs?: number } = {},
  ) {
    this.#status = status;
    this.#say = say;
    this.#afterMs = afterMs;
    this.broken();
  }

  /** Something was heard. */
  broken(): void {
    this.over();
    this.#timer = setTimeout(() => void this.#ask(), this.#afterMs).unref();
  }

  over(): void {
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const status = await this.#status().catch(() => undefined);
    const isFull = status !== undefined && status.disk.freeBytes < leastFree;
    if (isFull && !this.#isTold)
      this.#say(
        `waiting: the disk that holds ${status.home} is full (${size(status.disk.freeBytes)} left).\n` +
          "hint: Make room there. Nothing that was accepted is lost, and work goes on once there is room.\n",
      );
    this.#isTold = isFull;
    this.#timer?.refresh();
  }
}
