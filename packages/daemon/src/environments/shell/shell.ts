import type { CommandResult } from "@corral/protocol";
import { constants } from "node:fs";
import { CurrentCommand, type StopReason } from "./current-command.ts";
import { ShellFifos } from "./shell-fifos.ts";
import { CommandTexts, type WrittenText } from "./command-texts.ts";
import { PendingCommand, newPass } from "./pending-command.ts";
import { mainShell } from "../keeper/index.ts";
import { goneIfUnreadable, type KeeperLine } from "../keeper/keeper-line.ts";
import { freeAt, type Gauge, isFull } from "../limits/index.ts";
import { findIn, mayHaveBegun, readWholeIn, resultOf } from "./output.ts";
import type { Command, CommandResults, OutputRange, OutputRead, Shell } from "../port.ts";
import { RetainedOutputs } from "./retained-outputs.ts";
import { type Ending, endingTold, givenUpCode, type OutputStream, type Spool } from "../spool/spool.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/**
 * A persistent shell of an environment, seen from outside.
 *
 * Invariants
 * 1. The spool is the truth. A line on `done` is only a hint to look there; a lost hint costs one tick. A worker says how its command
 *    ended before it writes that to the spool, so nobody waits for the disk. The line carries a pass, which the worker reads from `go`
 *    after the command. The pass keeps stray lines out. It does not stop a command from reading `go` and lying about its own end.
 * 2. The worker has one command at a time; the others wait in order. A caller with the id of a pending command joins it.
 * 3. After a stop, no command is sent until the keeper has confirmed it, so a stop never hits a later command. If another process holds
 *    the environment and reads the confirmation first, it is found in the spool. A command of another process is never stopped in favour
 *    of one that waits behind it.
 * 4. `go` and `done` are open for reading and writing, so a line waits while the worker is replaced. A worker may die after it has read
 *    a line: a command that has not begun after a while is sent again.
 * 5. No timer, listener or event handler throws. An environment whose spool was tampered with is ended, and its pending commands fail
 *    once it is gone. A shortage of the machine (descriptors, disk) is waited out, up to a limit.
 */
export class SpoolShell implements Shell {
  readonly #spool: Spool;
  readonly #line: KeeperLine;
  readonly #name: string;
  readonly #gauge: Gauge | undefined;
  readonly #pending = new Map<string, PendingCommand>();
  readonly #forgotten: string[] = [];
  readonly #texts: CommandTexts;
  readonly #retained: RetainedOutputs;
  readonly #outputBytes: number;
  readonly #unlisten: () => void;
  /** Undefined: the keeper has not opened the shell yet, or it was left. */
  #fifos: ShellFifos | undefined;
  #current: CurrentCommand | undefined;
  #stateLost = false;
  /** The last command whose end the worker told. News that the worker died then may arrive after the next command has ended in the spool. */
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
    this.#retained = new RetainedOutputs(spool, { outputBytes });
    if (name === mainShell) this.#fifos = this.#openFifos();
    else void this.#open();
    this.#unlisten = line.onLeave((state) => this.#leave(state));
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Something is to run in it, or runs. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  takePlace(): void {
    this.#stateLost = true;
  }

  run(command: Command): Promise<CommandResult> {
    const waiting = this.#pending.get(command.id);
    if (waiting !== undefined) return waiting.join(command, () => this.#doOrEnd(() => this.#abort(waiting)));
    const pending = new PendingCommand(command, this.#spool);
    this.#pending.set(pending.id, pending);
    const result = pending.join(command, () => this.#doOrEnd(() => this.#abort(pending)));
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
      const fifos = await this.#line.answer(() => this.#tryFifos(), openPatience);
      if (this.#state === "open") this.#fifos = fifos;
      else fifos.close();
    } catch (error) {
      if (this.#state !== "open") return;
      for (const pending of [...this.#pending.values()]) this.#remove(pending).fail(goneIfUnreadable(error));
      this.#endIfMeddledWith(error);
      return;
    }
    this.#takeOff();
  }

  #tryFifos(): ShellFifos | undefined {
    try {
      return this.#openFifos();
    } catch (error) {
      if (error instanceof SpoolUnreadable && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  #openFifos(): ShellFifos {
    const [go, done] = this.#spool.openFifos(["go", constants.O_RDWR], ["done", constants.O_RDWR]);
    return new ShellFifos(go, done, (words) => this.#doOrEnd(() => this.#hear(words)));
  }

  #takeOff(): void {
    if (this.#current !== undefined || (this.#fifos === undefined && this.#state === "open")) return;
    const next = this.#pending.values().next();
    if (next.done === true) return this.#rest();
    try {
      this.#send(next.value);
    } catch (error) {
      this.#remove(next.value).fail(goneIfUnreadable(error));
      this.#endIfMeddledWith(error);
      this.#takeOff();
    }
  }

  #send(pending: PendingCommand): void {
    this.#spool.writeAgain();
    const { file, isNew, fits } = this.#state === "open" ? this.#writeText(pending) : nowhere;
    // Of one that nobody ran before nothing else can be there; its worker would see it, too. What is over is not to be stopped.
    const ending = isNew && !pending.abortAsked ? undefined : this.#spool.ending(pending.id);
    if (ending !== undefined) return this.#finish(pending, this.#resultOf(pending, ending));
    if (this.#state !== "open") throw this.#line.gone(this.#state);
    this.#line.mustBeWhole();
    // A word from before, which its worker has not taken up yet, must not have it begin once there is room.
    if (!fits && (this.#spool.giveUp(pending.id) || !this.#spool.hasBegun(pending.id)))
      return this.#finish(pending, { ...neverBegun, limit: "disk" });
    pending.file = file;
    pending.watch = this.#gauge?.watch(() => this.#doOrEnd(() => this.#stopAtLimit(pending)));
    const isJoined = !isNew && this.#spool.hasBegun(pending.id);
    if (!isJoined) this.#fifos?.tellWorker(pending);
    this.#fifos?.done.keepAwake(true);
    const left = isJoined ? this.#spool.timeLeft(pending.id, this.#line.uptime()) : undefined;
    pending.hasLimit = left !== undefined;
    const timeLeftMs = Math.max(0, Math.min(pending.timeoutMs, 1000 * (left ?? Infinity)));
    this.#current = new CurrentCommand(pending, timeLeftMs, (current) => this.#tick(current));
    if (pending.abortAsked) this.#giveUpOrStop(this.#current, "aborted");
  }

  /** One that has begun can be waited for without. */
  #writeText({ id, text }: PendingCommand): WrittenText & { readonly fits: boolean } {
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
    const heard = current === undefined ? undefined : endingTold(said, current.pending);
    if (current !== undefined) {
      current.told ??= heard?.ending;
      current.pending.timesAnswered += said.filter((word) => word === current.pending.id).length;
    }
    if (said.includes("lost") || this.#isLostAfterWord(said, heard?.after ?? said)) this.#loseState();
    current?.hear(said);
    if (this.#look() || current?.stop !== "none") return;
    if (said.includes(current.pending.id)) this.#finishUnlessBegun(current.pending);
  }

  /**
   * Its worker was told and has gone on without it: there was no room for its files, or it was given up by who could not write that down.
   * Where not even the first file can be made it may begin yet as long as another word is on its way.
   */
  #finishUnlessBegun(pending: PendingCommand): void {
    const { id } = pending;
    const hasNoRoom = isFull(freeAt(this.#spool.folder));
    if (this.#spool.isUnbegun(id)) this.#spool.endUnbegun(id);
    else if (this.#spool.hasBegun(id) || !hasNoRoom) return;
    else if (!this.#spool.giveUp(id) && (this.#spool.hasBegun(id) || pending.timesAnswered < pending.timesTold)) return;
    this.#finish(pending, { ...neverBegun, ...(hasNoRoom && { limit: "disk" }) });
  }

  /**
   * The worker said how a command ended and died before it had written that down. Otherwise what is written tells that it died. What was said of the
   * current one before its worker's word is a stray one's, though both may be heard at once.
   */
  #isLostAfterWord(said: readonly string[], after: readonly string[]): boolean {
    if (this.#lastTold !== undefined && said.includes(`lost ${this.#lastTold.id}`)) return true;
    return this.#current?.told !== undefined && after.includes(`lost ${this.#current.pending.id}`);
  }

  /** The worker died outside of any command, maybe with the word of the next one in its hand. */
  #loseState(): void {
    this.#stateLost = true;
    if (this.#current !== undefined) this.#tellAgain(this.#current.pending);
  }

  /** Finishes the current command if its end was told or is in the spool. Returns whether it did. */
  #look(): boolean {
    const current = this.#current;
    if (current === undefined) return false;
    if (current.stop === "asked") return false;
    // Of a command that was stopped the keeper knows more than its worker.
    const written =
      current.told === undefined || current.stop !== "none" ? this.#spool.ending(current.pending.id) : undefined;
    const ending = written ?? current.told;
    if (ending === undefined) return false;
    const { watch } = current.pending;
    if (current.stop === "none" && watch?.isFull() === true) return this.#stopAtLimit(current.pending);
    const result = this.#resultOf(current.pending, ending);
    this.#blindSince = undefined;
    const isReplaced = current.stop === "answered" || (current.stop === "none" && result.shellRespawned);
    const shellRespawned = isReplaced || this.#stateLost;
    this.#stateLost = false;
    if (current.told !== undefined) this.#lastTold = { id: current.pending.id, ending: current.told };
    this.#finish(current.pending, { ...result, shellRespawned });
    return true;
  }

  #resultOf({ id, watch }: PendingCommand, ending: Ending): CommandResult {
    // A shell that was ended by its own limit on files may have set it itself.
    const exitCode = ending.shellLost === undefined ? ending.exitCode : undefined;
    const result = resultOf(this.#spool, id, ending);
    const limit = watch?.end({ exitCode, stderr: result.stderr });
    return { ...(limit !== undefined && { limit }), ...result };
  }

  /** What it started would leave no room for the next command, or for others. */
  #stopAtLimit(pending: PendingCommand): false {
    const current = this.#current;
    if (current?.pending === pending && current.stop === "none") this.#giveUpOrStop(current, "aborted");
    return false;
  }

  #tick(current: CurrentCommand): void {
    this.#doOrEnd(() => this.#advance(current));
    if (this.#current === current) current.scheduleTick();
  }

  #advance(current: CurrentCommand): void {
    if (current.stop === "asked") current.hear(this.#spool.latestStops());
    const hasFinished = this.#look();
    // A worker that cannot write down how the command before ended may wait there for ever.
    if (!hasFinished && this.#lastTold !== undefined) this.#spool.checkEnding(this.#lastTold.id);
    this.#blindSince = undefined;
    if (hasFinished) return;
    if (current.isSpoilt()) return this.#line.giveUp();
    if (current.firstTick() && !current.pending.hasLimit)
      this.#spool.writeLimit(current.pending.id, {
        seconds: current.pending.timeoutMs / 1000,
        since: this.#line.uptime(),
      });
    // Answered, and yet no ending: the stop came before the worker had taken the command up.
    if (current.stop === "answered" || current.stop === "spared" || (current.stop === "none" && current.isOverdue()))
      this.#giveUpOrStop(current, "time");
    else if (current.stop === "none" && this.#spool.outputBytes(current.pending.id) > this.#outputBytes)
      this.#stop(current, "output");
    else this.#tellWhoMissedIt(current);
    current.pending.follow();
  }

  #tellWhoMissedIt(current: CurrentCommand): void {
    const whom = current.anotherWordIsFor();
    if (whom === "both") this.#tellAgain(current.pending);
    else if (whom === "keeper") this.#line.poke();
  }

  #tellAgain(pending: PendingCommand): void {
    const isLeft = pending.timesTold === 0 && this.#spool.isUnbegun(pending.id);
    if (isLeft || !this.#spool.hasBegun(pending.id)) this.#fifos?.tellWorker(pending);
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
    this.#fifos?.done.insist();
    this.#line.giveUp();
  }

  #abort(pending: PendingCommand): void {
    pending.abortAsked = true;
    if (this.#current?.pending === pending) {
      if (this.#current.stop === "none") this.#giveUpOrStop(this.#current, "aborted");
    } else if (!pending.settled && !mayHaveBegun(this.#spool, pending.id)) this.#remove(pending).finish(neverBegun);
  }

  #giveUpOrStop(current: CurrentCommand, why: StopReason): void {
    // A shell that does not take a command up in its time never will: it is replaced.
    const isStuck = current.stop === "none" && why !== "aborted";
    const begun = !this.#spool.giveUp(current.pending.id, ...(isStuck ? [why] : []));
    if (begun) this.#stop(current, why);
    else if (isStuck)
      this.#stop(current, why, [current.pending, ...(this.#lastTold === undefined ? [] : [this.#lastTold])]);
    else this.#finish(current.pending, neverBegun);
  }

  /** `only`: unless it is none of these that runs. */
  #stop(current: CurrentCommand, why: StopReason, only: readonly { readonly id: string }[] = []): void {
    const pass = newPass();
    const words = ["stop", this.#name, current.askToStop(why, pass), pass, ...only.map(({ id }) => id)];
    this.#line.ask(words.join(" "));
  }

  #finish(pending: PendingCommand, result: CommandResult): void {
    try {
      this.#remove(pending).finish(result);
    } finally {
      this.#takeOff();
    }
  }

  #remove(pending: PendingCommand): PendingCommand {
    this.#pending.delete(pending.id);
    if (this.#current?.pending === pending) {
      this.#current.clear();
      this.#current = undefined;
    }
    return pending;
  }

  /** Not the latest: the worker may have been told one twice, and would begin it again. */
  #tidy(): void {
    for (const id of this.#forgotten.splice(0, mostForgotten / 2)) {
      this.#retained.drop(id);
      this.#spool.remove(id);
    }
  }

  #rest(): void {
    this.#fifos?.done.keepAwake(false);
  }

  #leave(state: "gone" | "detached"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    // Its worker may have been ended between the two.
    if (state === "gone" && this.#lastTold !== undefined) this.#spool.settle(this.#lastTold.id, this.#lastTold.ending);
    this.#unlisten();
    this.#retained.close();
    this.#texts.close();
    this.#fifos?.close();
    this.#fifos = undefined;
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
