import { CorralError } from "@corral/protocol";
import { randomUUID } from "node:crypto";
import { closeSync, constants } from "node:fs";
import { Socket } from "node:net";
import { goneIfUnreadable, type KeeperLine } from "../keeper/keeper-line.ts";
import type { SpawnOptions, SpawnedProcess } from "../port.ts";
import { quoted } from "../system/quoting.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/**
 * Starts a process in an environment, with FIFOs in the spool as its pipes.
 *
 * 1. The keeper makes the FIFOs. The process waits at its stdin until its owner has opened them all.
 * 2. The owner keeps `life` open. It closes with the owner's own process, or when the environment is detached. The keeper then ends
 *    the spawned process.
 * 3. The exit code is in the spool before anyone is told. Its files are removed after that was read.
 */
export async function spawnProcess(line: KeeperLine, options: SpawnOptions): Promise<SpawnedProcess> {
  const { signal } = options;
  signal?.throwIfAborted();
  const id = `prg_${randomUUID()}`;
  const ending = () => line.spool.programEnding(id);
  line.mustBeWhole();
  try {
    line.spool.writeProgram(id, scriptFor(options));
    line.ask(`run ${id}`);
    const opened = await line.answer(() => openPipes(line, id) ?? ending(), startPatience);
    if (typeof opened === "number") throw notStarted();
    return new PipedProcess(line, id, { ...opened, signal });
  } catch (error) {
    line.spool.removeProgram(id);
    if (error instanceof SpoolUnreadable && !error.mayPass) line.giveUp();
    throw goneIfUnreadable(error);
  }
}

const startPatience = { deadlineMs: 20_000, slowestMs: 20 };
const endPatience = { deadlineMs: Number.POSITIVE_INFINITY, slowestMs: 2_000 };

interface Pipes {
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly life: number;
}

class PipedProcess implements SpawnedProcess {
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly ended: Promise<{ readonly exitCode: number }>;
  readonly #line: KeeperLine;
  readonly #id: string;
  readonly #life: number;

  constructor(line: KeeperLine, id: string, { signal, ...pipes }: Pipes & { signal: AbortSignal | undefined }) {
    this.#line = line;
    this.#id = id;
    this.#life = pipes.life;
    this.stdin = quiet(new Socket({ fd: pipes.stdin, readable: false, writable: true }));
    this.stdout = quiet(new Socket({ fd: pipes.stdout, readable: true, writable: false }));
    this.stderr = quiet(new Socket({ fd: pipes.stderr, readable: true, writable: false }));
    const kill = () => this.kill();
    signal?.addEventListener("abort", kill, { once: true });
    this.stdout.once("close", () => line.poke());
    this.ended = this.#end().finally(() => {
      signal?.removeEventListener("abort", kill);
      this.#letGo();
    });
    this.ended.catch(() => undefined);
    if (signal?.aborted === true) kill();
  }

  kill(): void {
    try {
      if (this.#line.isOpen) this.#line.ask(`end ${this.#id}`);
    } catch {
      // It cannot be asked, so it is ended with everything else.
      this.#line.giveUp();
    }
  }

  async #end(): Promise<{ readonly exitCode: number }> {
    try {
      return { exitCode: await this.#line.answer(() => this.#line.spool.programEnding(this.#id), endPatience) };
    } catch (error) {
      throw goneIfUnreadable(error);
    }
  }

  /** What it wrote last can still be read. An environment that was let go may never end, and one that has gone is read by who began to. */
  #letGo(): void {
    closeSync(this.#life);
    this.stdin.destroy();
    for (const stream of [this.stdout, this.stderr]) {
      const isUnread = stream.readableFlowing === null;
      if (this.#line.state === "detached" || (this.#line.state === "gone" && isUnread)) stream.destroy();
    }
    this.#line.spool.removeProgram(this.#id);
  }
}

/**
 * Undefined until all FIFOs are there and open at their other ends. The keeper's side of `life` must be open first: if the owner died before that, nobody
 * would notice. Closing some of them again does no harm: nobody reads before all are open, and `life` is opened after the only other one that can fail.
 */
function openPipes({ spool }: KeeperLine, id: string): Pipes | undefined {
  try {
    const [stdin, life, stdout, stderr] = spool.openFifos(
      [[id, "stdin"], constants.O_WRONLY],
      [[id, "life"], constants.O_WRONLY],
      [[id, "stdout"], constants.O_RDONLY],
      [[id, "stderr"], constants.O_RDONLY],
    );
    return { stdin, life, stdout, stderr };
  } catch (error) {
    if (error instanceof SpoolUnreadable && (error.code === "ENOENT" || error.code === "ENXIO")) return undefined;
    throw error;
  }
}

/** It is run by a shell of its own, never by the keeper. */
function scriptFor({ argv, folder, variables = {} }: SpawnOptions): string {
  const names = Object.keys(variables);
  const strange = [
    ...names.filter((name) => !/^[A-Za-z_]\w*$/.test(name)),
    ...argv.filter((word) => word.includes("\0")),
  ];
  if (strange.length > 0) throw new CorralError("internal", `A program cannot be given ${JSON.stringify(strange[0])}.`);
  return [
    ...(folder === undefined ? [] : [`cd -- ${quoted(folder)} || exit 126`]),
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `exec ${argv.map(quoted).join(" ")}\n`,
  ].join("\n");
}

/** Broken pipes are part of an end, and how it ended is told. */
function quiet(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

function notStarted(): CorralError {
  return new CorralError("internal", "The environment could not start another process.", {
    hint: "It has as many processes as it may have.",
    retry: "later",
  });
}
