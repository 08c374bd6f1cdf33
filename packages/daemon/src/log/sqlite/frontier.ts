/**
 * The end of the log: where the next event goes, and how far listeners have heard.
 *
 * Invariants
 * 1. Seqs are given inside the transaction from `head`, and linked from `link`, which move when an append can no longer fail by itself and are
 *    read anew after a lost transaction or another process's commit. So an append that is undone burns none.
 * 2. `#delivered` is the last seq the listeners have heard of. They hear of every seq, once and in order, after the sync
 *    and before the append's caller. Another process's events come before the next commit of this one, or when
 *    `catchUp` finds them.
 */
import type { Lifts, StoredEvent } from "@corral/protocol";
import type { Listeners } from "../listeners.ts";
import { isGap } from "../port.ts";
import { newestLink } from "./chain.ts";
import type { Database } from "./database.ts";
import { newestSeq, readEvents } from "./events.ts";
import { storeFailure } from "./failures.ts";
import type { CommitWatcher } from "./group-commit.ts";
import type { Streams } from "./streams.ts";

export class Frontier implements CommitWatcher {
  readonly #database: Database;
  readonly #streams: Streams;
  readonly #listeners: Listeners<readonly StoredEvent[]>;
  readonly #lifts: Lifts | undefined;
  #foreignCommits: number | undefined;
  #head: number;
  #link: string;
  #delivered: number;
  #appended: StoredEvent[] = [];
  #isTroubled = false;

  constructor(
    database: Database,
    streams: Streams,
    listeners: Listeners<readonly StoredEvent[]>,
    lifts: Lifts | undefined,
  ) {
    this.#database = database;
    this.#streams = streams;
    this.#listeners = listeners;
    this.#lifts = lifts;
    this.#head = newestSeq(database);
    this.#link = newestLink(database).link;
    this.#delivered = this.#head;
  }

  get head(): number {
    return this.#head;
  }

  /** That of the newest event. */
  get link(): string {
    return this.#link;
  }

  /** The events stand, unless the whole transaction is lost. `link`: that of the last. */
  advance(events: readonly StoredEvent[], link: string): void {
    this.#head += events.length;
    this.#link = link;
    for (const event of events) this.#appended.push(event);
  }

  begun(): void {
    this.#noticeOthers();
  }

  committed(): void {
    const events = this.#appended;
    this.#appended = [];
    try {
      this.#deliverForeign((events[0]?.seq ?? this.#head + 1) - 1);
    } catch (defect) {
      // They stay undelivered, and come with the next commit, from the file.
      this.#listeners.report(defect);
      return;
    }
    if (events.length === 0) return;
    this.#delivered = this.#head;
    this.#listeners.tell(events);
  }

  abandoned(error: unknown): unknown {
    this.#appended = [];
    this.#foreignCommits = undefined;
    return storeFailure("The log could not be written", error);
  }

  /** Tells of what other processes have committed. Cheap when there is nothing. To be called outside a transaction. */
  catchUp(): void {
    try {
      if (this.#noticeOthers() === "something") this.#deliverForeign(this.#head);
      this.#isTroubled = false;
    } catch (defect) {
      this.#foreignCommits = undefined;
      // Tried again at the next look; told once.
      if (!this.#isTroubled) this.#listeners.report(defect);
      this.#isTroubled = true;
    }
  }

  /** Forgets what is remembered of the file if anyone else has written since, or a transaction of ours was lost. */
  #noticeOthers(): "something" | "nothing" {
    const { foreignCommits } = this.#database;
    if (foreignCommits === this.#foreignCommits) return "nothing";
    this.#foreignCommits = foreignCommits;
    this.#streams.forget();
    this.#head = newestSeq(this.#database);
    this.#link = newestLink(this.#database).link;
    return "something";
  }

  #deliverForeign(last: number): void {
    while (this.#delivered < last) {
      const range = { after: this.#delivered, limit: Math.min(1000, last - this.#delivered) };
      const page = readEvents(this.#database, range, this.#lifts);
      if (isGap(page)) {
        this.#delivered = page.to;
        this.#listeners.tell([]);
      } else {
        this.#delivered = page.at(-1)?.seq ?? last;
        this.#listeners.tell(page);
      }
    }
  }
}
