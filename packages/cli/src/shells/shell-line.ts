import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Client } from "@corral/client";
import {
  heldBackWords,
  type CommandId,
  type CommandResult,
  type CommandView,
  CorralError,
  longestCommandText,
  newId,
  refusalIn,
  type ShellView,
} from "@corral/protocol";
import { pipedLines, runFromFile, tooLongToRun } from "./piped-lines.ts";
import { persistently } from "../daemon/resume.ts";
import { type Output, shown } from "../terminal/output.ts";
import { wrap } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

/** How a command ended, as far as anybody can tell. */
export interface Ended {
  readonly result: CommandResult | undefined;
  /** What there is to say about it besides. */
  readonly notice: string | undefined;
  readonly interrupted: boolean;
  /** It was not waited for. */
  readonly isLeft?: true;
}

/**
 * Commands in a person's shell, one after the other.
 *
 * 1. A command has one id from here on, so sending it again after a broken connection runs nothing twice.
 * 2. Ctrl-C ends what runs; pressed again, it leaves that alone and goes. It is never lost on a command that is about to start.
 * 3. Piped lines are run in one shell and as they are, or not at all. A person goes on in whatever shell there is.
 * 4. Whoever is told to end takes up nothing more, and ends what runs as Ctrl-C does. Where nobody reads any more, output is not waited for, and
 *    for who has told a command to end not for long.
 */
export class ShellLine {
  readonly #client: Client;
  readonly #shell: ShellView;
  readonly #world: World;
  readonly #timeoutMs: number | undefined;
  #running: Running | undefined;
  /** The last command that was begun. */
  #last: CommandId | undefined;

  /** Aborted: no more lines are taken. */
  readonly #over = new AbortController();

  /** What was printed last does not end its line. */
  #midLine = false;

  constructor(client: Client, shell: ShellView, world: World, timeoutMs: number | undefined) {
    this.#client = client;
    this.#shell = shell;
    this.#world = world;
    this.#timeoutMs = timeoutMs;
  }

  /** `after`: one that was run here. It runs where that one did, or not at all. */
  async run(text: string, { live, after }: { live: boolean; after?: CommandId | undefined }): Promise<Ended> {
    if (this.#isEnding) return { result: undefined, notice: undefined, interrupted: true };
    const id = newId("command");
    const running: Running = (this.#running = {
      id,
      leaving: new AbortController(),
      unread: new AbortController(),
      isCutShort: false,
      patience: undefined,
      pressed: 0,
    });
    const forget = this.#world.onInterrupt(() => this.press());
    try {
      await this.#persist(() => this.#client.shells.start(this.#shell.id, this.#command({ id, text, after })));
      this.#last = id;
      // What was pressed before may have come to a shell in which nothing ran yet.
      if (running.pressed > 0) this.#interrupt(running);
      const view = await (live ? this.#followWhileRead(id, running) : this.#wait(id, running.leaving.signal));
      const outcome = outcomeOf(view, running.pressed > 0);
      return running.isCutShort
        ? { ...outcome, notice: outcome.notice ?? "the rest of its output is left out" }
        : outcome;
    } catch (error) {
      if (!running.leaving.signal.aborted) throw error;
      return { result: undefined, notice: `left ${id} running in ${this.#shell.id}`, interrupted: true, isLeft: true };
    } finally {
      forget();
      clearTimeout(running.patience);
      this.#running = undefined;
    }
  }

  /** Takes lines until there are no more. Resolves with the exit code of the last. Throws a usage error for a piped one that cannot be a command. */
  interact(): Promise<number> {
    if (this.#isEnding) return Promise.resolve(interrupted);
    return this.#world.stdin.isTTY === true ? this.#interactWithPerson() : this.#takePiped();
  }

  async #takePiped(): Promise<number> {
    let code = 0;
    for await (const line of pipedLines(this.#world.stdin, this.#over.signal)) {
      if (this.#isEnding) break;
      const leaves = leavingWith(line, code);
      if (leaves !== undefined) return leaves;
      if (line.trim() === "") continue;
      const outcome = await this.run(line, { live: true, after: this.#last });
      // Lines count on the folder and the variables of those before them.
      const isLast = outcome.interrupted || isReplaced(outcome);
      this.#world.err.write(shown(ended(outcome, { goesOn: true, isLast })));
      code = codeOf(outcome);
      if (isLast) break;
    }
    return code;
  }

  async #interactWithPerson(): Promise<number> {
    const { stdin, out, err } = this.#world;
    err.write(wrap(shown(greeting(this.#shell)), err.columns));
    const prompt = `${wallsOf(this.#shell)}$ `;
    const lines = createInterface({ input: stdin, terminal: true, output: throughTo(out), prompt });
    this.#over.signal.addEventListener("abort", () => lines.close());
    lines.on("SIGINT", () => {
      if (this.#running === undefined) lines.write(null, { ctrl: true, name: "u" });
      else this.press();
    });
    // Whoever pastes lines and leaves has them all done, without being asked for more.
    let mayAsk = true;
    lines.on("close", () => (mayAsk = false));
    let code = 0;
    lines.prompt();
    for await (const line of lines) {
      if (this.#isEnding) break;
      const leaves = leavingWith(line, code);
      if (leaves !== undefined) {
        code = leaves;
        break;
      }
      if (line.trim() !== "") code = await this.#runForPerson(line);
      if (mayAsk) lines.prompt();
    }
    lines.close();
    out.write("\n");
    return code;
  }

  async #runForPerson(line: string): Promise<number> {
    const { out, err } = this.#world;
    if (line.length > longestCommandText) {
      err.write(`[it is ${tooLongToRun}, and was not run. ${runFromFile}]\n`);
      return 2;
    }
    this.#midLine = false;
    const outcome = await this.run(line, { live: true });
    if (this.#midLine) out.write("\n");
    err.write(shown(ended(outcome, { goesOn: true })));
    return codeOf(outcome);
  }

  get #isEnding(): boolean {
    return this.#over.signal.aborted;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  press(): void {
    const running = this.#running;
    if (running === undefined) return;
    running.pressed += 1;
    if (running.pressed > 1) return running.leaving.abort();
    this.#interrupt(running);
    running.patience = setTimeout(() => this.#cutShort(running), outputPatienceMs);
  }

  /** Takes no more lines and ends what runs. Told again, as some programs do at once, it is the same. */
  end({ isUnread = false }: { readonly isUnread?: boolean } = {}): void {
    if (isUnread) this.#running?.unread.abort();
    if (this.#isEnding) return;
    this.#over.abort();
    this.press();
  }

  #cutShort(running: Running): void {
    running.isCutShort = true;
    running.unread.abort();
  }

  #interrupt(running: Running): void {
    const { id: command, leaving } = running;
    // In a shell that was left open others may have commands of their own.
    this.#client.shells.interrupt(this.#shell.id, { command }, { signal: leaving.signal }).catch((error: unknown) => {
      if (leaving.signal.aborted) return;
      this.#world.err.write(shown(`could not interrupt: ${error instanceof Error ? error.message : String(error)}\n`));
    });
  }

  /** What a command has written until it hears that it is to end can take minutes to arrive. */
  async #followWhileRead(id: CommandId, { leaving, unread }: Running): Promise<CommandView> {
    try {
      return await this.#follow(id, AbortSignal.any([leaving.signal, unread.signal]));
    } catch (error) {
      if (!unread.signal.aborted || leaving.signal.aborted) throw error;
      return this.#wait(id, leaving.signal);
    }
  }

  #follow(id: CommandId, signal: AbortSignal): Promise<CommandView> {
    return this.#client.shells.follow(this.#shell.id, id, {
      signal,
      onOutput: (stream, piece, bytes) => {
        this.#midLine = !piece.endsWith("\n");
        return print(stream === "stdout" ? this.#world.out : this.#world.err, piece, bytes);
      },
      onBreak: this.#patience(),
    });
  }

  /** Whoever wants nothing but the end is not sent all the output. */
  async #wait(id: CommandId, signal: AbortSignal): Promise<CommandView> {
    for (;;) {
      const view = await this.#persist(() => this.#client.shells.look(this.#shell.id, id, { wait: 20 }, { signal }));
      signal.throwIfAborted();
      if (view.state !== "running") return view;
    }
  }

  #command({ after, ...command }: { id: CommandId; text: string; after: CommandId | undefined }) {
    return {
      ...command,
      ...(this.#timeoutMs === undefined ? {} : { timeoutMs: this.#timeoutMs }),
      ...(after === undefined ? {} : { after }),
    };
  }

  async #persist<T>(work: () => Promise<T>): Promise<T> {
    const patience = this.#patience();
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof CorralError) || !isPassing(error)) throw error;
        patience({ error, attempt });
        await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** attempt, 2_000)));
      }
    }
  }

  #patience(): (broken: { error: CorralError; attempt: number }) => void {
    const persist = persistently(this.#client, this.#world, { shell: this.#shell.id });
    return ({ error, attempt }) => persist({ error, attempt, cursor: 0 });
  }
}

/** How long output may go on arriving for who has told the command to end, which is over by then. */
const outputPatienceMs = 5_000;

/** The exit code after Ctrl-C. */
export const interrupted = 130;

/** The exit code of whoever leaves with this line; undefined: it is a command. */
function leavingWith(line: string, code: number): number | undefined {
  const leaves = /^\s*exit(?:\s+(\d{1,3}))?\s*$/.exec(line);
  return leaves === null ? undefined : Number(leaves[1] ?? code);
}

function codeOf({ interrupted: wasInterrupted, result }: Ended): number {
  return wasInterrupted ? interrupted : (result?.exitCode ?? 1);
}

interface Running {
  readonly id: CommandId;
  readonly leaving: AbortController;
  /** Nobody takes its output any more. */
  readonly unread: AbortController;
  isCutShort: boolean;
  patience: NodeJS.Timeout | undefined;
  pressed: number;
}

/** Whether the next command would be in another shell than it was. One that nobody can tell the end of had its environment end under it. */
function isReplaced({ result, interrupted }: Ended): boolean {
  return result === undefined ? !interrupted : result.shellRespawned;
}

/** What is to be said of an end besides its output; empty when nothing is. `isLast`: lines that may follow are not taken. */
export function ended(outcome: Ended, { goesOn, isLast = false }: { goesOn: boolean; isLast?: boolean }): string {
  const { result } = outcome;
  const notice = noticeOf(outcome, { goesOn });
  const refusal = result === undefined ? undefined : refusalIn(result);
  const heldBack = heldBackWords(result?.heldBack, "person");
  const said = [
    ...(notice === undefined ? [] : [notice]),
    ...(refusal === undefined ? [] : [refusal]),
    ...(heldBack === undefined ? [] : [heldBack]),
    ...(result?.limit === undefined && result?.timedOut !== true
      ? []
      : [`it ran into its limit: ${result.limit ?? "time"}`]),
    ...(goesOn && isReplaced(outcome) ? [isLast ? lastWords : newShell] : []),
  ];
  return said.map((each) => `[${each}]\n`).join("");
}

/** True for who left on purpose, too. */
const lastWords = "this line ended the shell, or found it ended: none after it is run";

const newShell = "the shell is a new one: folder and variables are as at first";

/** What is left goes on only where its shell does. */
export function noticeOf({ notice, isLeft }: Ended, { goesOn }: { goesOn: boolean }): string | undefined {
  return isLeft === true && !goesOn ? "it is ended with its shell" : notice;
}

function outcomeOf(view: CommandView, interrupted: boolean): Ended {
  switch (view.state) {
    case "ended":
      return { result: view.result, notice: undefined, interrupted };
    case "past":
      return {
        result: { ...view.facts, stdout: "", stderr: "" },
        notice: "its output is no longer kept",
        interrupted,
      };
    case "unknown":
      return { result: undefined, notice: view.reason, interrupted };
    case "running":
      return { result: undefined, notice: "it still runs", interrupted };
  }
}

function isPassing({ code }: CorralError): boolean {
  return code === "daemon.unreachable" || code === "daemon.stopping";
}

/** A terminal is shown what a command says; a program gets it as it is, byte by byte, and as fast as it reads. */
async function print(output: Output, piece: string, bytes: Uint8Array): Promise<void> {
  if (output.isTerminal !== true && output.pass !== undefined) await output.pass(bytes);
  else output.write(output.isTerminal === true ? shown(piece) : piece);
}

const places = {
  copy: "on a copy of the repository",
  "in-place": "in the repository itself",
  scratch: "in an empty folder",
};

/** In a word. */
export function wallsOf({ environment: { kind } }: Pick<ShellView, "environment">): string {
  return kind === "local" ? "UNSAFE" : kind;
}

function greeting({ environment, workspace, path }: ShellView): string {
  const { kind, network, access = "write" } = environment;
  const walls = kind === "local" ? `UNSAFE: no walls, ${places[workspace]}` : `A ${kind} ${places[workspace]}`;
  return `${walls} (${path}); network ${network}, access ${access}. Ctrl-C ends a command, Ctrl-D leaves.\n`;
}

function throughTo(out: Output): Writable {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      out.write(chunk.toString("utf8"));
      done();
    },
  });
  return Object.assign(stream, { columns: out.columns, isTTY: true });
}
