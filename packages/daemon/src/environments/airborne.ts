import type { LimitHit } from "@corral/protocol";
import type { Flight } from "./flight.ts";
import type { Ending } from "./spool.ts";

/** Why a command is ended before its time. */
export type StopReason = LimitHit | "aborted";

const firstTickMs = 25;
const slowestTickMs = 100;

/** How long a word to a worker may go unheard. */
const wordMs = 1_000;

/** How long the keeper may take to end everyone, its own grace included. */
const stopDeadlineMs = 20_000;

/** The flight in the air, its clock and how far its stop has come. */
export class Airborne {
  readonly flight: Flight;
  readonly #tick: (current: Airborne) => void;
  readonly #deadline: number;
  #timer: NodeJS.Timeout;
  #delay = firstTickMs;
  #ticked = false;
  #nextWord = performance.now() + wordMs;
  #why: StopReason | undefined;
  #stopDeadline = Number.POSITIVE_INFINITY;
  #writtenSince: number | undefined;
  stop: "none" | "asked" | "answered" = "none";
  /** That it never begins is written, and not by the keeper. */
  isGivenUp = false;
  /** How it ended, by its worker's word. */
  told: Ending | undefined;

  constructor(flight: Flight, tick: (current: Airborne) => void) {
    this.flight = flight;
    this.#tick = tick;
    this.#deadline = performance.now() + flight.timeoutMs;
    this.#timer = setTimeout(tick, Math.min(firstTickMs, flight.timeoutMs), this);
  }

  firstTick(): boolean {
    const first = !this.#ticked;
    this.#ticked = true;
    return first;
  }

  scheduleTick(): void {
    clearTimeout(this.#timer);
    const untilDeadline = this.#deadline - performance.now();
    const wait = this.stop === "none" && untilDeadline > 0 ? Math.min(this.#delay, untilDeadline) : this.#delay;
    this.#timer = setTimeout(this.#tick, Math.ceil(wait), this);
    this.#delay = Math.min(slowestTickMs, this.#delay * 1.25);
  }

  /** Now and then, should worker or keeper have missed one. */
  isDueForAnotherWord(): boolean {
    if (this.stop !== "none" || performance.now() < this.#nextWord) return false;
    this.#nextWord = performance.now() + wordMs;
    return true;
  }

  isOverdue(): boolean {
    return performance.now() >= this.#deadline;
  }

  /** The first reason stays, however often it has to be asked. */
  askToStop(why: StopReason): StopReason {
    this.#why ??= why;
    this.stop = "asked";
    this.#writtenSince = undefined;
    this.#stopDeadline = Math.min(this.#stopDeadline, performance.now() + stopDeadlineMs);
    return this.#why;
  }

  keeperStopped(): void {
    if (this.stop === "asked") this.stop = "answered";
  }

  /**
   * The keeper writes down that it ended a command before it says `stopped`. Another process that holds the environment too may have heard
   * that in our place; who counted what is written at once could have the word of this stop taken for that of the next one.
   */
  stopIsWritten(): void {
    if (this.isGivenUp) return;
    this.#writtenSince ??= performance.now();
    if (performance.now() - this.#writtenSince >= wordMs) this.keeperStopped();
  }

  isSpoilt(): boolean {
    return performance.now() >= this.#stopDeadline;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
