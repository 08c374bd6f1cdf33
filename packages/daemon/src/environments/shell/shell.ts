import type { CommandResult } from "@corral/protocol";
import { constants } from "node:fs";
import { Airborne, type StopReason } from "./airborne.ts";
import { Channel } from "./channel.ts";
import { CommandTexts, type WrittenText } from "./command-texts.ts";
import { Flight, newPass } from "./flight.ts";
import { mainShell } from "../keeper/index.ts";
import { goneIfUnreadable, type KeeperLine } from "../keeper/keeper-line.ts";
import { freeAt, type Gauge, isFull } from "../limits/index.ts";
import { findIn, mayHaveBegun, readWholeIn, resultOf } from "./output.ts";
import type { Command, CommandResults, OutputRange, OutputRead, Shell } from "../port.ts";
import { Retained } from "./retained.ts";
import { type Ending, endingTold, givenUpCode, type OutputStream, type Spool } from "../spool/spool.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/**
 * A persistent shell of an environment, seen from outside.
 *
 * Invariants
 * 1. The spool is the truth. A line on `done` is a hint to look there, and a lost hint costs one tick. A worker says how its command ended
 *    before it writes that down, so that nobody waits for the disk. It adds a pass, which comes on `go` behind the command: that keeps stray words
 *    out, and is no wall against who reads `go` to lie about itself.
 * 2. One flight is in the air, the others wait in order. An id in the air or waiting is joined, not sent again.
 * 3. After a stop nothing is sent before the keeper said that this one is done, so a stop never hits a later command. Where another process
 *    holds the environment too and hears that word, it is found written. A command of that process is never stopped for one that waits behind it.
 * 4. `go` and `done` are held open both ways, so what is written waits for a worker that is being replaced. A worker may die with
 *    the word in its hand: what has not begun after a while is told again.
 * 5. Nothing throws out of a timer, a listener or an event. An environment whose spool was meddled with is ended, and what
 *    waits for it fails when it has gone; what only the machine is short of is waited for, and not for ever.
 */
export class SpoolShell implements Shell {
  readonly #spool: Spool;
  readonly #line: KeeperLine;
  readonly #name: string;
  readonly #gauge: Gauge | undefined;
  readonly #flights = new Map<string, Flight>();
  readonly #forgotten: string[] = [];
  readonly #texts: CommandTexts;
  readonly #retained: Retained;
  readonly #outputBytes: number;
  readonly #unlisten: () => void;
  /** Undefined: the keeper has not opened the shell yet, or it was left. */
  #channel: Channel | undefined;
  #current: Airborne | undefined;
  #stateLost = false;
  /** The last one that landed on its worker's word. That the worker died then may be heard when the next one has landed by what is written. */
  #lastTold: { readonly id: string; readonly ending: Ending } | undefined;
  /** Since when the spool could not be read, for want of something. */
  #blindSince: number | undefined;
  #state: "open" | "gone" | "detached" = "open";

  /** Throws when the main shell's FIFOs are not there; another shell is opened by the keeper first. */
  constructor(spool: Spool, line: KeeperLine, { name, outputBytes, gauge }: ShellOptions) {
    this.#spool = spool;
    this.#line = line;
    this.#name = name;
    this.#gauge = gauge;
    this.#state = line.state;
    this.#outputBytes = outputBytes;
    this.#texts = new CommandTexts(spool);
    this.#retained = new Retained(spool, { outputBytes });
    if (name === mainShell) this.#channel = this.#openChannel();
    else void this.#open();
    this.#unlisten = line.onLeave((state) => this.#leave(state));
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Something is to run in it, or runs. */
  get isBusy(): boolean {
    return this.#flights.size > 0;
  }

  takePlace(): void {
    this.#stateLost = true;
  }

  run(command: Command): Promise<CommandResult> {
    const waiting = this.#flights.get(command.id);
    if (waiting !== undefined) return waiting.join(command, () => this.#doOrEnd(() => this.#abort(waiting)));
    const flight = new Flight(command, this.#spool);
    this.#flights.set(flight.id, flight);
    const result = flight.join(command, () => this.#doOrEnd(() => this.#abort(flight)));
    this.#takeOff();
    return result;
  }

  async find(id: string): ReturnType<CommandResults["find"]> {
    const found = findIn(this.#spool, id);
    if (found.kind !== "begun" || this.#lastTold?.id !== id) return found;
    return { kind: "done", result: resultOf(this.#spool, id, this.#lastTold.ending) };
  }

  async readWhole(id: string, stream: OutputStream, range?: OutputRange): Promise<OutputRead> {
    try {
      return readWholeIn(this.#spool, id, stream, range);
    } catch (error) {
      throw goneIfUnreadable(error);
    }
  }

  /**
   * Output goes when there is much of it, the files themselves with the environment or after very many commands:
   * ext4 looks at every file deleted in the last minutes whenever it creates one, so that deleting
   * after each command would make every command several times as slow.
   */
  forget(id: string): void {
    setImmediate(() => this.#state === "open" && this.#retained.add(id)).unref();
    if (this.#forgotten.push(id) >= mostForgotten) this.#tidy();
  }

  /** Ends what runs in it, and its files go. */
  async close(): Promise<void> {
    this.#leave("gone");
    this.#line.ask(`close ${this.#name}`);
    await this.#line.answer(() => (this.#spool.hasFifo("go") ? undefined : true), openPatience);
  }

  async #open(): Promise<void> {
    try {
      this.#line.ask(`shell ${this.#name}`);
      const channel = await this.#line.answer(() => this.#tryChannel(), openPatience);
      if (this.#state === "open") this.#channel = channel;
      else channel.close();
    } catch (error) {
      if (this.#state !== "open") return;
      for (const flight of [...this.#flights.values()]) this.#remove(flight).fail(goneIfUnreadable(error));
      this.#endIfMeddledWith(error);
      return;
    }
    this.#takeOff();
  }

  #tryChannel(): Channel | undefined {
    try {
      return this.#openChannel();
    } catch (error) {
      if (error instanceof SpoolUnreadable && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  #openChannel(): Channel {
    const [go, done] = this.#spool.openFifos(["go", constants.O_RDWR], ["done", constants.O_RDWR]);
    return new Channel(go, done, (words) => this.#doOrEnd(() => this.#hear(words)));
  }

  #takeOff(): void {
    if (this.#current !== undefined || (this.#channel === undefined && this.#state === "open")) return;
    const next = this.#flights.values().next();
    if (next.done === true) return this.#rest();
    try {
      this.#send(next.value);
    } catch (error) {
      this.#remove(next.value).fail(goneIfUnreadable(error));
      this.#endIfMeddledWith(error);
      this.#takeOff();
    }
  }

  #send(flight: Flight): void {
    this.#spool.writeAgain();
    const { file, isNew, fits } = this.#state === "open" ? this.#writeText(flight) : nowhere;
    // Of one that nobody ran before nothing else can be there; its worker would see it, too. What is over is not to be stopped.
    const ending = isNew && !flight.abortAsked ? undefined : this.#spool.ending(flight.id);
    if (ending !== undefined) return this.#landOn(flight, this.#resultOf(flight, ending));
    if (this.#state !== "open") throw this.#line.gone(this.#state);
    this.#line.mustBeWhole();
    // A word from before, which its worker has not taken up yet, must not have it begin once there is room.
    if (!fits && (this.#spool.giveUp(flight.id) || !this.#spool.hasBegun(flight.id)))
      return this.#landOn(flight, { ...neverBegun, limit: "disk" });
    flight.file = file;
    flight.watch = this.#gauge?.watch(() => this.#doOrEnd(() => this.#stopAtLimit(flight)));
    const isJoined = !isNew && this.#spool.hasBegun(flight.id);
    if (!isJoined) this.#channel?.tellWorker(flight);
    this.#channel?.done.keepAwake(true);
    const left = isJoined ? this.#spool.timeLeft(flight.id, this.#line.uptime()) : undefined;
    flight.hasLimit = left !== undefined;
    const timeLeftMs = Math.max(0, Math.min(flight.timeoutMs, 1000 * (left ?? Infinity)));
    this.#current = new Airborne(flight, timeLeftMs, (current) => this.#tick(current));
    if (flight.abortAsked) this.#giveUpOrStop(this.#current, "aborted");
  }

  /** One that has begun can be waited for without. */
  #writeText({ id, text }: Flight): WrittenText & { readonly fits: boolean } {
    try {
      const { file, isNew } = this.#texts.write(id, text);
      return { file, isNew, fits: true };
    } catch (error) {
      if (error instanceof SpoolUnreadable && error.isForWantOfRoom) return nowhere;
      throw error;
    }
  }

  #hear(said: readonly string[]): void {
    const current = this.#current;
    const heard = current === undefined ? undefined : endingTold(said, current.flight);
    if (current !== undefined) {
      current.told ??= heard?.ending;
      current.flight.timesAnswered += said.filter((word) => word === current.flight.id).length;
    }
    if (said.includes("lost") || this.#isLostAfterWord(said, heard?.after ?? said)) this.#loseState();
    current?.hear(said);
    if (this.#look() || current?.stop !== "none") return;
    if (said.includes(current.flight.id)) this.#landUnlessBegun(current.flight);
  }

  /**
   * Its worker was told and has gone on without it: there was no room for its files, or it was given up by who could not write that down.
   * Where not even the first file can be made it may begin yet as long as another word is on its way.
   */
  #landUnlessBegun(flight: Flight): void {
    const { id } = flight;
    const hasNoRoom = isFull(freeAt(this.#spool.folder));
    if (this.#spool.isUnbegun(id)) this.#spool.endUnbegun(id);
    else if (this.#spool.hasBegun(id) || !hasNoRoom) return;
    else if (!this.#spool.giveUp(id) && (this.#spool.hasBegun(id) || flight.timesAnswered < flight.timesTold)) return;
    this.#landOn(flight, { ...neverBegun, ...(hasNoRoom && { limit: "disk" }) });
  }

  /**
   * The worker said how a command ended and died before it had written that down. Otherwise what is written tells that it died. What was said of the
   * current one before its worker's word is a stray one's, though both may be heard at once.
   */
  #isLostAfterWord(said: readonly string[], after: readonly string[]): boolean {
    if (this.#lastTold !== undefined && said.includes(`lost ${this.#lastTold.id}`)) return true;
    return this.#current?.told !== undefined && after.includes(`lost ${this.#current.flight.id}`);
  }

  /** The worker died outside of any command, maybe with the word of the next one in its hand. */
  #loseState(): void {
    this.#stateLost = true;
    if (this.#current !== undefined) this.#tellAgain(this.#current.flight);
  }

  /** Lands the current flight if its end is told or written; says whether it did. */
  #look(): boolean {
    const current = this.#current;
    if (current === undefined) return false;
    if (current.stop === "asked") return false;
    // Of a command that was stopped the keeper knows more than its worker.
    const written =
      current.told === undefined || current.stop !== "none" ? this.#spool.ending(current.flight.id) : undefined;
    const ending = written ?? current.told;
    if (ending === undefined) return false;
    const { watch } = current.flight;
    if (current.stop === "none" && watch?.isFull() === true) return this.#stopAtLimit(current.flight);
    const result = this.#resultOf(current.flight, ending);
    this.#blindSince = undefined;
    const isReplaced = current.stop === "answered" || (current.stop === "none" && result.shellRespawned);
    const shellRespawned = isReplaced || this.#stateLost;
    this.#stateLost = false;
    if (current.told !== undefined) this.#lastTold = { id: current.flight.id, ending: current.told };
    this.#landOn(current.flight, { ...result, shellRespawned });
    return true;
  }

  #resultOf({ id, watch }: Flight, ending: Ending): CommandResult {
    // A shell that was ended by its own limit on files may have set it itself.
    const exitCode = ending.shellLost === undefined ? ending.exitCode : undefined;
    const result = resultOf(this.#spool, id, ending);
    const limit = watch?.end({ exitCode, stderr: result.stderr });
    return { ...(limit !== undefined && { limit }), ...result };
  }

  /** What it started would leave no room for the next command, or for others. */
  #stopAtLimit(flight: Flight): false {
    const current = this.#current;
    if (current?.flight === flight && current.stop === "none") this.#giveUpOrStop(current, "aborted");
    return false;
  }

  #tick(current: Airborne): void {
    this.#doOrEnd(() => this.#advance(current));
    if (this.#current === current) current.scheduleTick();
  }

  #advance(current: Airborne): void {
    if (current.stop === "asked") current.hear(this.#spool.latestStops());
    const landed = this.#look();
    // A worker that cannot write down how the command before ended may wait there for ever.
    if (!landed && this.#lastTold !== undefined) this.#spool.checkEnding(this.#lastTold.id);
    this.#blindSince = undefined;
    if (landed) return;
    if (current.isSpoilt()) return this.#line.giveUp();
    if (current.firstTick() && !current.flight.hasLimit)
      this.#spool.writeLimit(current.flight.id, {
        seconds: current.flight.timeoutMs / 1000,
        since: this.#line.uptime(),
      });
    // Answered, and yet no ending: the stop came before the worker had taken the command up.
    if (current.stop === "answered" || current.stop === "spared" || (current.stop === "none" && current.isOverdue()))
      this.#giveUpOrStop(current, "time");
    else if (current.stop === "none" && this.#spool.outputBytes(current.flight.id) > this.#outputBytes)
      this.#stop(current, "output");
    else this.#tellWhoMissedIt(current);
    current.flight.follow();
  }

  #tellWhoMissedIt(current: Airborne): void {
    const whom = current.anotherWordIsFor();
    if (whom === "both") this.#tellAgain(current.flight);
    else if (whom === "keeper") this.#line.poke();
  }

  #tellAgain(flight: Flight): void {
    const isLeft = flight.timesTold === 0 && this.#spool.isUnbegun(flight.id);
    if (isLeft || !this.#spool.hasBegun(flight.id)) this.#channel?.tellWorker(flight);
    this.#line.poke();
  }

  #doOrEnd(work: () => void): void {
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
    this.#channel?.done.insist();
    this.#line.giveUp();
  }

  #abort(flight: Flight): void {
    flight.abortAsked = true;
    if (this.#current?.flight === flight) {
      if (this.#current.stop === "none") this.#giveUpOrStop(this.#current, "aborted");
    } else if (!flight.settled && !mayHaveBegun(this.#spool, flight.id)) this.#remove(flight).land(neverBegun);
  }

  #giveUpOrStop(current: Airborne, why: StopReason): void {
    // A shell that does not take a command up in its time never will: it is replaced.
    const isStuck = current.stop === "none" && why !== "aborted";
    const begun = !this.#spool.giveUp(current.flight.id, ...(isStuck ? [why] : []));
    if (begun) this.#stop(current, why);
    else if (isStuck)
      this.#stop(current, why, [current.flight, ...(this.#lastTold === undefined ? [] : [this.#lastTold])]);
    else this.#landOn(current.flight, neverBegun);
  }

  /** `only`: unless it is none of these that runs. */
  #stop(current: Airborne, why: StopReason, only: readonly { readonly id: string }[] = []): void {
    const pass = newPass();
    const words = ["stop", this.#name, current.askToStop(why, pass), pass, ...only.map(({ id }) => id)];
    this.#line.ask(words.join(" "));
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

  /** Not the latest: the worker may have been told one twice, and would begin it again. */
  #tidy(): void {
    for (const id of this.#forgotten.splice(0, mostForgotten / 2)) {
      this.#retained.drop(id);
      this.#spool.remove(id);
    }
  }

  #rest(): void {
    this.#channel?.done.keepAwake(false);
  }

  #leave(state: "gone" | "detached"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    // Its worker may have been ended between the two.
    if (state === "gone" && this.#lastTold !== undefined) this.#spool.settle(this.#lastTold.id, this.#lastTold.ending);
    this.#unlisten();
    this.#retained.close();
    this.#texts.close();
    this.#channel?.close();
    this.#channel = undefined;
    this.#current?.clear();
    this.#current = undefined;
    this.#takeOff();
  }
}

export interface ShellOptions {
  readonly name: string;
  /** What one command may write before it is ended. */
  readonly outputBytes: number;
  /** Tells when a command ran into a limit; without, nobody does. */
  readonly gauge?: Gauge | undefined;
}

/** A name all the same: a worker passes over a word without one, also when it is only to say that the command is over. */
const nowhere = { file: "nowhere", isNew: false, fits: false };
const openPatience = { deadlineMs: 20_000, slowestMs: 25 };
const mostForgotten = 2_000;

/** How long a machine may be short of something before its environments are given up. */
const blindMs = 10_000;

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
