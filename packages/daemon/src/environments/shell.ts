import { type CommandResult, CorralError } from "@corral/protocol";
import { closeSync, constants, writeSync } from "node:fs";
import { Socket } from "node:net";
import { Flight } from "./flight.ts";
import { keeperSignals } from "./keeper.ts";
import type { Gauge } from "./limits/index.ts";
import { findIn, mayHaveBegun, resultOf } from "./output.ts";
import type { Command, CommandResults, Shell } from "./port.ts";
import { type Ending, givenUpCode, type Spool, SpoolUnreadable } from "./spool.ts";

/**
 * The persistent shell of an environment, seen from outside.
 *
 * Invariants
 * 1. The spool is the truth. A line on `done` is a hint to look there, and a lost hint costs one tick.
 * 2. One flight is in the air, the others wait in order. An id in the air or waiting is joined, not sent again.
 * 3. After a stop nothing is sent before the keeper said `stopped`, so a stop never hits a later command.
 * 4. `done` ends when the last process of the environment has gone, and not before.
 * 5. Whoever holds `here` is present. It closes with this object or with this process, whichever ends first.
 * 6. Nothing throws out of a timer, a listener or an event. An environment whose spool was meddled with is ended, and what
 *    waits for it fails when it has gone; what only the machine is short of is waited for, and not for ever.
 */
export class SpoolShell implements Shell {
  readonly #spool: Spool;
  readonly #keeper: Keeper;
  readonly #gauge: Gauge | undefined;
  readonly #go: number;
  readonly #here: number;
  readonly #done: Socket;
  readonly #flights = new Map<string, Flight>();
  #current: Airborne | undefined;
  readonly #forgotten: string[] = [];
  #partialLine = "";
  readonly #patience = new Patience();
  #stateLost = false;
  /** Since when the spool could not be read, for want of something. */
  #blindSince: number | undefined;
  #state: "open" | "gone" | "detached" = "open";

  /** Throws when the spool's FIFOs are not there or nobody is at their other end. */
  constructor(spool: Spool, keeper: Keeper, gauge?: Gauge) {
    this.#spool = spool;
    this.#keeper = keeper;
    this.#gauge = gauge;
    const [go, here, done] = spool.openFifos(
      ["go", constants.O_WRONLY],
      ["here", constants.O_RDWR],
      ["done", constants.O_RDONLY],
    );
    this.#go = go;
    this.#here = here;
    this.#done = new Socket({ fd: done, readable: true, writable: false });
    this.#done.on("data", (chunk: Buffer) => this.#guard(() => this.#hear(chunk)));
    this.#done.on("error", () => this.#leave("gone"));
    this.#done.on("close", () => this.#leave("gone"));
    this.#done.unref();
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  run(command: Command): Promise<CommandResult> {
    const waiting = this.#flights.get(command.id);
    if (waiting !== undefined) return waiting.join(command, () => this.#guard(() => this.#abort(waiting)));
    const flight = new Flight(command, this.#spool);
    this.#flights.set(flight.id, flight);
    const result = flight.join(command, () => this.#guard(() => this.#abort(flight)));
    this.#takeOff();
    return result;
  }

  async find(id: string): ReturnType<CommandResults["find"]> {
    return findIn(this.#spool, id);
  }

  /**
   * Large output goes at once, the files themselves with the environment or after very many commands:
   * ext4 looks at every file deleted in the last minutes whenever it creates one, so that deleting
   * after each command would make every command several times as slow.
   */
  forget(id: string): void {
    setImmediate(() => this.#guard(() => this.#spool.shrink(id))).unref();
    if (this.#forgotten.push(id) >= mostForgotten) this.#tidy();
  }

  detach(): void {
    this.#leave("detached");
  }

  #takeOff(): void {
    if (this.#current !== undefined) return;
    const next = this.#flights.values().next();
    if (next.done === true) return this.#rest();
    try {
      this.#send(next.value);
    } catch (error) {
      this.#remove(next.value).fail(error instanceof SpoolUnreadable ? gone("unusable", error) : error);
      this.#endIfMeddledWith(error);
      this.#takeOff();
    }
  }

  #send(flight: Flight): void {
    const ending = this.#spool.ending(flight.id);
    if (ending !== undefined) return this.#landOn(flight, this.#resultOf(flight, ending));
    if (this.#state !== "open") throw gone(this.#state);
    flight.watch = this.#gauge?.watch(() => this.#guard(() => this.#stopAtLimit(flight)));
    if (!this.#spool.hasBegun(flight.id)) {
      this.#spool.writeCommand(flight.id, flight.text);
      this.#tellWorker(flight.id);
    }
    this.#done.ref();
    this.#current = new Airborne(flight, (current) => this.#tick(current));
    if (flight.abortAsked) this.#giveUpOrStop(this.#current, "aborted");
  }

  #tellWorker(id: string): void {
    try {
      writeSync(this.#go, `${id}\n`);
    } catch (cause) {
      // Nobody is there to read it, or somebody else has filled it up.
      throw new SpoolUnreadable("The shell cannot be reached.", { mayPass: false, cause });
    }
  }

  /** However much is said at once, there is one look. */
  #hear(chunk: Buffer): void {
    if (this.#patience.isTriedBy(chunk.length)) this.#listenLater();
    const lines = (this.#partialLine + chunk.toString("latin1")).split("\n");
    this.#partialLine = (lines.pop() ?? "").slice(0, 256);
    const said = new Set(lines);
    if (said.has("lost")) this.#stateLost = true;
    if (said.has("stopped")) this.#current?.keeperStopped();
    this.#look();
  }

  /** Until then the ticks look. */
  #listenLater(): void {
    this.#done.pause();
    setTimeout(() => this.#done.resume(), Patience.windowMs).unref();
  }

  /** Lands the current flight if its end is written; says whether it did. */
  #look(): boolean {
    const current = this.#current;
    if (current === undefined) return false;
    const ending = this.#spool.ending(current.flight.id);
    if (ending === undefined || current.stop === "asked") return false;
    const { watch } = current.flight;
    if (current.stop === "none" && watch?.isFull() === true) return this.#stopAtLimit(current.flight);
    const result = this.#resultOf(current.flight, ending);
    const shellRespawned = result.shellRespawned || this.#stateLost || current.stop === "answered";
    this.#stateLost = false;
    this.#landOn(current.flight, { ...result, shellRespawned });
    return true;
  }

  #resultOf({ id, watch }: Flight, ending: Ending): CommandResult {
    // A shell that was ended by its own limit on files may have set it itself.
    const limit = watch?.end(ending.shellLost === undefined ? ending.exitCode : undefined);
    return { ...(limit !== undefined && { limit }), ...resultOf(this.#spool, id, ending) };
  }

  /** What it started would leave no room for the next command, or for others. */
  #stopAtLimit(flight: Flight): false {
    const current = this.#current;
    if (current?.flight === flight && current.stop === "none") this.#giveUpOrStop(current, "aborted");
    return false;
  }

  #tick(current: Airborne): void {
    this.#guard(() => this.#advance(current));
    if (this.#current === current) current.scheduleTick();
  }

  #advance(current: Airborne): void {
    const landed = this.#look();
    this.#blindSince = undefined;
    if (landed) return;
    if (current.isSpoilt()) return this.#keeper.kill();
    if (current.firstTick()) this.#spool.writeLimit(current.flight.id, Math.ceil(current.flight.timeoutMs / 1000));
    // Answered, and yet no ending: the stop came before the worker had taken the command up.
    if (current.stop === "answered" || (current.stop === "none" && current.isOverdue()))
      this.#giveUpOrStop(current, "limit");
    current.flight.follow();
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#endIfMeddledWith(error);
    }
  }

  /** What waits for it fails when the last of its processes has gone. */
  #endIfMeddledWith(error: unknown): void {
    if (this.#state !== "open") return;
    this.#blindSince ??= performance.now();
    const mayPass = error instanceof SpoolUnreadable && error.mayPass;
    if (mayPass && performance.now() - this.#blindSince < blindMs) return;
    this.#done.resume();
    this.#keeper.kill();
  }

  #abort(flight: Flight): void {
    flight.abortAsked = true;
    if (this.#current?.flight === flight) {
      if (this.#current.stop === "none") this.#giveUpOrStop(this.#current, "aborted");
    } else if (!flight.settled && !mayHaveBegun(this.#spool, flight.id)) this.#remove(flight).land(neverBegun);
  }

  #giveUpOrStop(current: Airborne, why: keyof typeof keeperSignals): void {
    if (this.#spool.giveUp(current.flight.id)) this.#landOn(current.flight, neverBegun);
    else this.#stop(current, why);
  }

  #stop(current: Airborne, why: keyof typeof keeperSignals): void {
    this.#keeper.signal(keeperSignals[current.askToStop(why)]);
  }

  #landOn(flight: Flight, result: CommandResult): void {
    try {
      this.#remove(flight).land(result);
    } finally {
      this.#takeOff();
    }
  }

  #remove(flight: Flight): Flight {
    this.#flights.delete(flight.id);
    if (this.#current?.flight === flight) {
      this.#current.clear();
      this.#current = undefined;
    }
    return flight;
  }

  #tidy(): void {
    for (const id of this.#forgotten.splice(0)) this.#spool.remove(id);
  }

  #rest(): void {
    this.#done.unref();
  }

  #leave(state: "gone" | "detached"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    closeSync(this.#go);
    closeSync(this.#here);
    this.#done.destroy();
    this.#current?.clear();
    this.#current = undefined;
    this.#takeOff();
  }
}

/** The keeper as its driver reaches it. */
export interface Keeper {
  signal(name: NodeJS.Signals): void;
  /** Ends the whole environment: the keeper does not answer. */
  kill(): void;
}

const mostForgotten = 2_000;
/** How long a machine may be short of something before its environments are given up. */
const blindMs = 10_000;

const firstTickMs = 25;
const slowestTickMs = 100;

/** How long the keeper may take to end everyone, its own grace included. */
const stopDeadlineMs = 10_000;

/** The flight in the air, its clock and how far its stop has come. */
class Airborne {
  readonly flight: Flight;
  readonly #tick: (current: Airborne) => void;
  readonly #deadline: number;
  #timer: NodeJS.Timeout;
  #delay = firstTickMs;
  #ticked = false;
  #why: keyof typeof keeperSignals | undefined;
  #stopDeadline = Number.POSITIVE_INFINITY;
  stop: "none" | "asked" | "answered" = "none";

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

  isOverdue(): boolean {
    return performance.now() >= this.#deadline;
  }

  /** The first reason stays, however often it has to be asked. */
  askToStop(why: keyof typeof keeperSignals): keyof typeof keeperSignals {
    this.#why ??= why;
    this.stop = "asked";
    this.#stopDeadline = Math.min(this.#stopDeadline, performance.now() + stopDeadlineMs);
    return this.#why;
  }

  keeperStopped(): void {
    if (this.stop === "asked") this.stop = "answered";
  }

  isSpoilt(): boolean {
    return performance.now() >= this.#stopDeadline;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** With what is said on `done`: keeper and worker say one short line a command, and a flood must cost the others little. */
class Patience {
  static readonly windowMs = 50;
  #since = 0;
  #spent = 0;

  isTriedBy(bytes: number): boolean {
    const now = performance.now();
    if (now - this.#since > Patience.windowMs) [this.#since, this.#spent] = [now, 0];
    this.#spent += Math.max(bytes, 64);
    return this.#spent > 32_768;
  }
}

/** Aborted before its turn came: nothing ran, and 143 is what a shell says of a command ended by TERM. */
const neverBegun: CommandResult = {
  exitCode: givenUpCode,
  stdout: "",
  stderr: "",
  stdoutBytes: 0,
  stderrBytes: 0,
  timedOut: false,
  shellRespawned: false,
};

function gone(why: keyof typeof goneMessages, cause?: unknown): CorralError {
  return new CorralError("environment.gone", goneMessages[why], { retry: "never", cause });
}

const goneMessages = {
  gone: "The environment ended before the command did.",
  detached: "The environment was let go.",
  unusable: "The environment can no longer be talked to.",
};
