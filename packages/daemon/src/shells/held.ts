import {
  commandFacts,
  type CommandId,
  type CommandResult,
  type CommandView,
  CorralError,
  type EnvironmentState,
  environmentState,
  event,
  type EnvironmentLimits,
  type EventData,
  newId,
  type NewEvent,
  type ShellId,
  type StartCommand,
  type TerminalId,
  type TerminalSize,
  type TerminalView,
} from "@corral/protocol";
import type { Artifacts } from "../artifacts/index.ts";
import {
  BridgeKeeping,
  closingOf,
  type CommandResults,
  type Environment,
  type EnvironmentDrivers,
  EnvironmentHolder,
  type OpenAndRecord,
  planOf,
} from "../environments/index.ts";
import type { By, Log, Row } from "../log/index.ts";
import type { Secrets } from "../secrets/index.ts";
import { HeldTerminals, type Scrollbacks } from "../terminals/index.ts";
import { onlyReads } from "../workspaces/index.ts";
import { followOutputs, type OutputsOf, wholeOutputs } from "./whole-outputs.ts";

export type ShellFacts = EventData<"shell.opened">;

/** What a held shell needs of whoever holds it. */
export interface ShellWorld {
  readonly log: Log;
  readonly drivers: EnvironmentDrivers;
  readonly scrollbacks: Scrollbacks;
  readonly artifacts: Pick<Artifacts, "begin">;
  readonly secrets: Secrets;
  /** The ways out of shells whose network is `allow`. */
  readonly waysOut: WaysOut;
  /** What an environment may use that is opened now. */
  limits(): EnvironmentLimits;
  /** Resolves when what ended in the shell by now is kept in a snapshot, or could not be. Never rejects. */
  snapshotted(shell: ShellId): Promise<void>;
  /** Throws `workspace.busy` when the shell's folder is another's for the time being. Asked before an environment is opened. */
  claim(shell: HeldShell): void;
  readonly onDefect: (what: string, error: unknown) => void;
  /** Aborted when the daemon stops: from then on nothing is recorded, for what runs goes on. */
  readonly over: AbortSignal;
}

export interface WaysOut {
  /** Open when it resolves. From when the environment is on record it stays so without being held. */
  hold(shell: ShellId): Promise<{ readonly folder: string; readonly release: () => void }>;
}

type OnOutput = (stream: "stdout" | "stderr", text: string) => void;

/**
 * A person's shell as the daemon holds it.
 *
 * 1. An environment is on record before a command starts in it, and a command before it runs.
 * 2. A command that runs has one entry in `#running`, and its end is recorded once: the append is guarded by its row.
 * 3. What is found running after a restart is joined; an id runs at most once.
 * 4. An end is told after it is durable.
 * 5. What can write begins when the snapshot of what ended before it is taken. Nothing begins while the shell is kept at rest.
 */
export class HeldShell {
  readonly id: ShellId;
  readonly facts: ShellFacts;
  readonly terminals: HeldTerminals;
  readonly #world: ShellWorld;
  readonly #bridge = new BridgeKeeping();
  readonly #running = new Map<CommandId, Running>();
  /** How many commands and terminals are past waiting for snapshots, and not running yet. */
  #beginning = 0;
  /** Until it is on record and running, or refused. */
  readonly #starting = new Map<CommandId, Promise<unknown>>();
  /** Ended, and their output is still there; the oldest first. */
  readonly #kept: CommandId[] = [];
  /** As on record. */
  #state: EnvironmentState | undefined;
  readonly #holder: EnvironmentHolder<By>;
  #ending: Promise<void> | undefined;
  #isOpen = false;
  #lastUsed = performance.now();

  constructor(id: ShellId, row: Row, world: ShellWorld) {
    this.id = id;
    this.facts = JSON.parse(row["facts"] as string) as ShellFacts;
    this.#world = world;
    this.terminals = new HeldTerminals(id, world);
    const state = row["environment_state"] as string | null;
    if (state !== null) this.#state = environmentState.parse(JSON.parse(state));
    this.#holder = new EnvironmentHolder({
      drivers: world.drivers,
      recorded: () => this.#state,
      prepare: async () => this.#claim(),
      openNew: (_by, open) => this.#openNew(open),
      opened: (environment, _before, by) => this.#recordOpened(environment, by),
      ended: (environment, closing) => this.#clearAway(environment, closing),
      onSuccessor: ({ shell }) => shell.takePlace(),
      onFailure: () => (this.#isOpen = false),
    });
  }

  /** Something of it may run. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  isIdleFor(ms: number): boolean {
    const isUsed = this.#starting.size + this.#running.size > 0 || performance.now() - this.#lastUsed < ms;
    return this.#isOpen && !isUsed && this.terminals.isQuietFor(Math.max(ms, quietTerminalMs));
  }

  /** Takes up what ran when the daemon went away. */
  async recover(): Promise<void> {
    const found = await this.#holder.find();
    if (found.kind === "none") return;
    const { log } = this.#world;
    const running = await log.rows("shell_commands", { where: { shell: this.id, state: "running" } });
    if (found.kind === "gone") {
      for (const row of running) await this.#settleFromWhatIsLeft(row["key"] as CommandId, found.results, found.reason);
      await this.terminals.recover(undefined);
      return this.#recordClosed(closingOf("it was found ended", found.reason));
    }
    const environment = await this.#holder.open({ actor: "corral" });
    await this.#recallKept();
    for (const row of running) this.#launch(commandIn(row), environment, { recovered: true });
    await this.terminals.recover(environment);
  }

  /** Durable when it resolves. With the id of one that was opened before, it is that one. */
  async openTerminal(id: TerminalId, size: TerminalSize, by: By): Promise<TerminalView> {
    this.#lastUsed = performance.now();
    await this.#world.snapshotted(this.id);
    return this.#begin(async () => this.terminals.open(id, size, await this.#open(by), by));
  }

  /** Durable when it resolves. Throws `command.conflict` for an id that was used for another text. */
  start(command: StartCommand, by: By): Promise<CommandView> {
    const starting = this.#start(command, by).finally(() => this.#starting.delete(command.id));
    this.#starting.set(command.id, starting);
    return starting;
  }

  async #start(command: StartCommand, by: By): Promise<CommandView> {
    this.#lastUsed = performance.now();
    const known = await this.#world.log.row("shell_commands", command.id);
    if (known !== undefined) return this.#again(known, command);
    const reads = onlyReads(command.text);
    if (!reads) await this.#world.snapshotted(this.id);
    return this.#begin(() => this.#startNew(command, by, reads));
  }

  async #begin<T>(work: () => Promise<T>): Promise<T> {
    this.#beginning++;
    try {
      return await work();
    } finally {
      this.#beginning--;
    }
  }

  async #startNew(command: StartCommand, by: By, reads: boolean): Promise<CommandView> {
    const environment = await this.#open(by);
    const { id, text, timeoutMs, after } = command;
    if (after !== undefined) await this.#mustHaveRunIn(environment, after);
    try {
      await this.#append(
        [
          event("shell.command-started", {
            ...{ id, text, timeoutMs, environment: environment.state.id },
            ...(reads ? { reads } : {}),
          }),
        ],
        by,
        { key: id, is: null },
      );
    } catch (error) {
      if (!isConflict(error)) throw error;
      const winner = await this.#world.log.row("shell_commands", id);
      if (winner === undefined) throw error;
      return this.#again(winner, command);
    }
    this.#launch(command, environment, { recovered: false, by });
    return { id, shell: this.id, state: "running" };
  }

  async #mustHaveRunIn({ state }: Environment, command: CommandId): Promise<void> {
    const row = await this.#world.log.row("shell_commands", command);
    if (row === undefined || row["shell"] !== this.id) throw noCommand(command);
    if (row["environment"] !== state.id)
      throw new CorralError(
        "environment.gone",
        "The shell in which the commands before it ran has ended; it did not run.",
        {
          hint: "Folder and variables are as at first; `corral events` tells why it ended.",
          retry: "never",
        },
      );
  }

  /** How the command stands. */
  async look(id: CommandId): Promise<CommandView> {
    const row = await this.#world.log.row("shell_commands", id);
    if (row === undefined || row["shell"] !== this.id) throw noCommand(id);
    switch (row["state"]) {
      case "running":
        return { id, shell: this.id, state: "running" };
      case "unknown":
        return { id, shell: this.id, state: "unknown", reason: row["reason"] as string };
      default:
        return this.#ended(id, row);
    }
  }

  /** Tells output from the command's beginning on, and resolves with its end. */
  async follow(id: CommandId, onOutput: OnOutput): Promise<CommandView> {
    await this.#starting.get(id)?.catch(() => undefined);
    const running = this.#running.get(id);
    if (running === undefined) {
      const view = await this.look(id);
      if (view.state === "ended")
        for (const stream of ["stdout", "stderr"] as const) onOutput(stream, view.result[stream]);
      return view;
    }
    running.join(onOutput);
    return running.done;
  }

  /** What a command has written so far, from a place on; nothing once it is no longer kept. */
  async read(id: CommandId, stream: "stdout" | "stderr", from: number, limit: number): Promise<Buffer> {
    if (!this.#running.has(id) && !this.#kept.includes(id)) return Buffer.alloc(0);
    const environment = await this.#holder.current();
    // What it left in the background may write on.
    const end = this.#running.get(id)?.written?.[stream] ?? Infinity;
    const bytes = Math.max(0, Math.min(limit, end - from));
    return (await environment?.shell.readWhole(id, stream, { from, bytes }))?.bytes ?? Buffer.alloc(0);
  }

  /** Without a command all of them. Says whether there was one. */
  interrupt(by: By, command?: CommandId): boolean {
    const meant = [...this.#running].filter(([id]) => command === undefined || id === command);
    for (const [, running] of meant) {
      running.interruptedBy ??= by.actor;
      running.abort.abort();
    }
    return meant.length > 0;
  }

  /** What a command says in the shell as it is; nothing when it fails, or nothing of the shell is open. */
  async ask(question: (state: EnvironmentState) => string): Promise<string> {
    await this.#ending;
    const environment = await this.#holder.current();
    if (environment === undefined || !environment.isOpen) return "";
    const wish = { id: newId("command"), text: question(environment.state), timeoutMs: 30_000 };
    const { exitCode, stdout } = await environment.shell.run(wish).catch(() => ({ exitCode: 1, stdout: "" }));
    return exitCode === 0 ? stdout : "";
  }

  /** Ends all that runs in it. Another command waits for that and starts it afresh. */
  end(reason: string): Promise<void> {
    return (this.#ending ??= this.#end(reason).finally(() => (this.#ending = undefined)));
  }

  /** Ends it, and does something before anything runs in it again. Throws `workspace.busy` while a command runs. */
  async atRest<T>(reason: string, work: () => Promise<T>): Promise<T> {
    await this.#ending;
    if (this.#beginning + this.#running.size > 0) throw inUse(this.id);
    const done = this.#end(reason).then(work);
    // Whoever waits to begin has nothing to do with how that went.
    const over = done.then(nothing, nothing).finally(() => (this.#ending = undefined));
    this.#ending = over;
    return done;
  }

  async #end(reason: string): Promise<void> {
    await this.#holder.current();
    const ends = [...this.#running.values()].map(({ done }) => done.catch(() => undefined));
    await this.terminals.closeAll();
    // What could not be taken up is left to a sweep.
    if (this.#isOpen) await this.#holder.end();
    await Promise.all(ends);
    this.#isOpen = false;
    await this.#recordClosed({ reason });
  }

  detach(): void {
    this.#holder.detach();
  }

  /** Programs in it find the way out, if there is one, from the first command on. */
  async #open(by: By): Promise<Environment> {
    const environment = await this.#opened(by);
    if (environment.state.network === "allow") await this.#bridge.ready(environment);
    return environment;
  }

  /** What is being ended is not used any more. */
  async #opened(by: By): Promise<Environment> {
    await this.#ending;
    return this.#holder.open(by);
  }

  /** Commands that ran in it are judged before its spool goes. */
  async #clearAway(ended: Environment, closing: Omit<EventData<"environment.closed">, "id">): Promise<void> {
    await this.#recordClosed(closing);
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    await ended.end().catch((error: unknown) => this.#world.onDefect(`${ended.state.id} could not be removed`, error));
  }

  /** In one step, so that of two shells in one folder only one is open. */
  #claim(): void {
    this.#world.claim(this);
    this.#isOpen = true;
  }

  async #openNew(open: OpenAndRecord): Promise<Environment | undefined> {
    const { environment: wish, path, readable, variables } = this.facts;
    const way = wish.network === "allow" ? await this.#world.waysOut.hold(this.id) : undefined;
    const plan = planOf({
      id: newId("environment"),
      workspace: path,
      access: wish.access ?? "write",
      network: wish.network,
      image: wish.image,
      volumes: wish.volumes ?? {},
      readable,
      limits: this.#world.limits(),
      ...(way === undefined ? {} : { egress: way.folder }),
      variables,
      heldBackFor: this.id,
    });
    try {
      return await open(wish.kind, plan);
    } finally {
      way?.release();
    }
  }

  async #recordOpened({ state }: Environment, by: By): Promise<"recorded"> {
    await this.#append([event("environment.opened", { state })], by);
    this.#state = state;
    this.#kept.length = 0;
    return "recorded";
  }

  #launch(command: StartCommand, environment: Environment, how: { recovered: boolean; by?: By }): void {
    const { id, text, timeoutMs } = command;
    const abort = new AbortController();
    const began = performance.now();
    const wish = { id, text, timeoutMs };
    const outputs = followOutputs(this.#outputs(), environment.shell, id);
    const result = environment.shell.run({ ...wish, signal: abort.signal });
    const running: Running = {
      abort,
      interruptedBy: undefined,
      written: undefined,
      join: (onOutput) => void environment.shell.run({ ...wish, onOutput }).catch(() => undefined),
      done: result.then(
        async (got) => {
          running.written = { stdout: got.stdoutBytes, stderr: got.stderrBytes };
          const durationMs = how.recovered ? undefined : performance.now() - began;
          return this.#recordEnd(id, await outputs.rest(got), { ...how, durationMs });
        },
        (error: unknown) => {
          outputs.leave();
          return this.#broken(id, environment, error);
        },
      ),
    };
    this.#running.set(id, running);
    running.done.then(
      () => this.#over(id),
      (error: unknown) => {
        this.#over(id);
        if (!this.#world.over.aborted) this.#world.onDefect(`the end of ${id} could not be recorded`, error);
      },
    );
  }

  #over(id: CommandId): void {
    this.#running.delete(id);
    this.#lastUsed = performance.now();
  }

  async #recordEnd(
    id: CommandId,
    result: CommandResult,
    { recovered, durationMs, by }: { recovered: boolean; durationMs?: number | undefined; by?: By },
  ): Promise<CommandView> {
    const interruptedBy = this.#running.get(id)?.interruptedBy;
    const ended = event("shell.command-ended", {
      id,
      ...factsOf(result),
      ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs * 10) / 10 }),
      ...(interruptedBy === undefined ? {} : { interruptedBy }),
      ...(recovered ? { recovered } : {}),
    });
    const traceId = by?.traceId;
    await this.#append([ended], { actor: "corral", ...(traceId === undefined ? {} : { traceId }) }, stillRunning(id));
    await this.#keep(id);
    return { id, shell: this.id, state: "ended", result: this.#world.secrets.masked(result) };
  }

  /** The environment ended under it: what it wrote down tells, or nobody can. */
  async #broken(id: CommandId, { state, endedBecause }: Environment, error: unknown): Promise<CommandView> {
    if (this.#world.over.aborted) throw error;
    const found = await this.#world.drivers.reopen(state);
    const results = found.kind === "open" ? found.environment.shell : found.results;
    try {
      return await this.#settleFromWhatIsLeft(id, results, endedBecause);
    } finally {
      if (found.kind === "open") found.environment.detach();
    }
  }

  async #settleFromWhatIsLeft(
    id: CommandId,
    results: CommandResults,
    endedBecause: string | undefined,
  ): Promise<CommandView> {
    const found = await results.find(id);
    if (found.kind === "done") {
      const result = await wholeOutputs(this.#outputs(), results, id, found.result);
      return this.#recordEnd(id, result, { recovered: true });
    }
    const how =
      found.kind === "begun"
        ? "Its environment ended in the middle of it; nobody can tell how far it came."
        : "Its environment ended before it began; it did not run.";
    const reason = endedBecause === undefined ? how : `${how} It was ended: ${endedBecause}.`;
    await this.#append([event("shell.command-unknown", { id, reason })], { actor: "corral" }, stillRunning(id));
    return { id, shell: this.id, state: "unknown", reason };
  }

  #outputs(): OutputsOf {
    const { artifacts, secrets, over, onDefect } = this.#world;
    return { artifacts, secrets, over, onDefect, shell: this.id };
  }

  async #again(row: Row, { id, text }: StartCommand): Promise<CommandView> {
    if (row["shell"] !== this.id || row["text"] !== text)
      throw new CorralError("command.conflict", `${id} was used before, for another command.`);
    return this.look(id);
  }

  async #ended(id: CommandId, row: Row): Promise<CommandView> {
    const environment = this.#kept.includes(id) ? await this.#holder.current() : undefined;
    const found = await environment?.shell.find(id);
    const facts = commandFacts.parse(JSON.parse(row["facts"] as string));
    // The spool has the output. Which limit it ran into was seen while it ran, and is on record alone.
    if (found?.kind === "done")
      return { id, shell: this.id, state: "ended", result: this.#world.secrets.masked({ ...found.result, ...facts }) };
    return { id, shell: this.id, state: "past", facts };
  }

  /** Output is kept for the newest few, for whoever did not hear how they ended. */
  async #keep(id: CommandId): Promise<void> {
    this.#kept.push(id);
    const environment = await this.#holder.current();
    for (const old of this.#kept.splice(0, this.#kept.length - mostKept)) environment?.shell.forget(old);
  }

  async #recallKept(): Promise<void> {
    const rows = await this.#world.log.rows("shell_commands", { where: { shell: this.id }, orderBy: "seq" });
    const here = rows.filter((row) => row["state"] === "ended" && row["environment"] === this.#state?.id);
    this.#kept.push(...here.slice(-mostKept).map((row) => row["key"] as CommandId));
  }

  async #recordClosed(closing: Omit<EventData<"environment.closed">, "id">): Promise<void> {
    if (this.#state === undefined) return;
    const { id } = this.#state;
    this.#state = undefined;
    await this.#append([event("environment.closed", { id, ...closing })], { actor: "corral" });
  }

  async #append(
    events: readonly NewEvent[],
    by: By,
    guard?: { key: string; is: Readonly<Record<string, string>> | null },
  ) {
    this.#world.over.throwIfAborted();
    const guards = guard === undefined ? {} : { guards: [{ table: "shell_commands", ...guard }] };
    await this.#world.log.append({ stream: this.id, ...by, events, ...guards });
  }
}

const mostKept = 20;

/** What runs on a terminal may be silent for long; nobody comes back to one that was for a day. */
const quietTerminalMs = 24 * 3_600_000;

interface Running {
  readonly abort: AbortController;
  readonly done: Promise<CommandView>;
  readonly join: (onOutput: OnOutput) => void;
  interruptedBy: string | undefined;
  /** Known from its end on. */
  written: Readonly<Record<"stdout" | "stderr", number>> | undefined;
}

function nothing(): void {
  // Its outcome is somebody else's.
}

function inUse(id: ShellId): CorralError {
  return new CorralError("workspace.busy", `A command runs in ${id}.`, {
    hint: "Let it finish, or interrupt it first",
    retry: "later",
  });
}

function stillRunning(id: CommandId) {
  return { key: id, is: { state: "running" } };
}

function commandIn(row: Row): StartCommand {
  return { id: row["key"] as CommandId, text: row["text"] as string, timeoutMs: row["timeout_ms"] as number };
}

function factsOf({ stdout: _stdout, stderr: _stderr, ...facts }: CommandResult) {
  return facts;
}

function isConflict(error: unknown): boolean {
  return error instanceof CorralError && error.code === "append.conflict";
}

function noCommand(id: CommandId): CorralError {
  return new CorralError("not-found", `There is no command ${id} in this shell.`);
}
