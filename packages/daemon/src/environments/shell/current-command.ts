import type { LimitHit } from "@corral/protocol";
import type { PendingCommand } from "./pending-command.ts";
import type { Ending } from "../spool/spool.ts";

/** Why a command is ended before its time. */
export type StopReason = LimitHit | "aborted";

const firstTickMs = 25;
const slowestTickMs = 100;

/** How long to wait for a worker's answer before it is told again. */
const wordMs = 1_000;

/** How long the keeper may take to end everyone, its own grace included. */
const stopDeadlineMs = 20_000;

/** The command that the worker has now, with its deadline and the progress of a stop. */
export class CurrentCommand {
  readonly pending: PendingCommand;
  readonly #tick: (current: CurrentCommand) => void;
  readonly #deadline: number;
  #timer: NodeJS.Timeout;
  #delay = firstTickMs;
  #ticked = false;
  #nextWord = performance.now() + wordMs;
  #wordsAgain = 0;
  #why: StopReason | undefined;
  #stopDeadline = Number.POSITIVE_INFINITY;
  /** `spared`: it had not begun, and what runs in the shell is another process's and goes on. */
  stop: "none" | "asked" | "answered" | "spared" = "none";
  /** By which the keeper's word is known, said and written down, that the stop that was asked for is done. */
  receipt = "";
  /** How it ended, as told by its worker. */
  told: Ending | undefined;

  /** `timeLeftMs`: less than the command's timeout if it was running before this process joined it. */
  constructor(pending: PendingCommand, timeLeftMs: number, tick: (current: CurrentCommand) => void) {
    this.pending = pending;
    this.#tick = tick;
    this.#deadline = performance.now() + timeLeftMs;
    this.#timer = setTimeout(tick, Math.min(firstTickMs, timeLeftMs), this);
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

  /**
   * Whom to tell again, now and then, should one have missed a word: the keeper every time, the worker less and less often. It may only be slow, and
   * must not be told more than it can answer.
   */
  anotherWordIsFor(): "nobody" | "keeper" | "both" {
    if (this.stop !== "none" || performance.now() < this.#nextWord) return "nobody";
    this.#nextWord = performance.now() + wordMs;
    this.#wordsAgain += 1;
    const isPowerOfTwo = (this.#wordsAgain & (this.#wordsAgain - 1)) === 0;
    return isPowerOfTwo ? "both" : "keeper";
  }

  isOverdue(): boolean {
    return performance.now() >= this.#deadline;
  }

  /** The first reason stays, however often it has to be asked. */
  askToStop(why: StopReason, pass: string): StopReason {
    this.#why ??= why;
    this.stop = "asked";
    this.receipt = pass;
    this.#stopDeadline = Math.min(this.#stopDeadline, performance.now() + stopDeadlineMs);
    return this.#why;
  }

  hear(words: readonly string[]): void {
    if (this.stop !== "asked") return;
    if (words.includes(`stopped ${this.receipt}`)) this.stop = "answered";
    else if (words.includes(`spared ${this.receipt}`)) this.stop = "spared";
  }

  isSpoilt(): boolean {
    return performance.now() >= this.#stopDeadline;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
