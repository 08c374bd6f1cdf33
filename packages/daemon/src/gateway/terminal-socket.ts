import { type ClosedTerminal, CorralError, type TerminalMessage, terminalRequest } from "@corral/protocol";
import type { WebSocket } from "ws";
import type { TerminalViewer, WatchedTerminal } from "../terminals/index.ts";
import type { Principal } from "../tokens/index.ts";
import { type StreamLimits, usualLimits } from "./feed.ts";
import { problemOf } from "./problem.ts";

/**
 * Terminals to their viewers, over WebSockets: output and keys in binary frames, everything else as JSON in text frames.
 *
 * 1. A viewer that does not read is dropped, alone: nobody waits for it, and no more than a limit waits for it in memory.
 * 2. Keys that come before the terminal is there wait for it, in order.
 * 3. Whoever does not answer a ping by the next one is taken for gone; a socket ends with what let its client in, at once.
 * 4. Leaving ends nothing but the viewing.
 */
export interface TerminalSockets {
  open(socket: WebSocket, who: Principal, wish: TerminalWatch): void;
  end(): void;
  readonly count: number;
}

export interface TerminalWatch {
  readonly watch: (viewer: TerminalViewer) => Promise<WatchedTerminal | ClosedTerminal>;
}

export function openTerminalSockets({ onError, limits = usualLimits }: TerminalSocketParts): TerminalSockets {
  const open = new Set<ViewerSocket>();
  let ended = false;
  return {
    get count() {
      return open.size;
    },
    open(socket, who, wish) {
      const client = new ViewerSocket(socket, limits);
      if (ended || who.over?.aborted === true) return client.close(goingAway, "the daemon stops");
      who.over?.addEventListener("abort", () => client.close(refused, "what let you in is over"), {
        once: true,
        signal: client.gone,
      });
      open.add(client);
      socket.once("close", () => open.delete(client));
      client.begin(wish).catch((error: unknown) => {
        client.refuse(error);
        if (!(error instanceof CorralError)) onError(error);
      });
    },
    end() {
      ended = true;
      for (const client of open) client.close(goingAway, "the daemon stops");
    },
  };
}

interface TerminalSocketParts {
  readonly onError: (error: unknown) => void;
  readonly limits?: StreamLimits | undefined;
}

const normal = 1000;
const goingAway = 1001;
const refused = 1008;
const closingMs = 1_000;

class ViewerSocket {
  readonly #socket: WebSocket;
  readonly #limits: StreamLimits;
  readonly #gone = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #early: ((terminal: WatchedTerminal) => void)[] = [];
  #terminal: WatchedTerminal | undefined;
  #isAlive = true;

  constructor(socket: WebSocket, limits: StreamLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#heartbeat = setInterval(() => this.#beat(), limits.heartbeatMs).unref();
    socket.on("close", () => this.#stop());
    socket.on("error", () => this.#stop());
    socket.on("pong", () => (this.#isAlive = true));
    socket.on("message", (data, isBinary) => this.#hear(data as Buffer, isBinary));
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async begin({ watch }: TerminalWatch): Promise<void> {
    const found = await watch({
      onOutput: (bytes) => this.#write(bytes),
      onSize: (other) => this.#say({ kind: "size", ...other }),
      onClosed: (closed) => this.#tellEnd(closed),
    });
    if (!("leave" in found)) return this.#tellEnd(found);
    if (this.gone.aborted) return found.leave();
    this.#terminal = found;
    for (const said of this.#early.splice(0)) said(found);
  }

  refuse(error: unknown): void {
    this.#say({ kind: "problem", problem: problemOf(error) });
    this.close(refused, "refused");
  }

  close(code: number, reason: string): void {
    this.#stop();
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), closingMs).unref();
  }

  #tellEnd(terminal: ClosedTerminal): void {
    this.#say({ kind: "closed", terminal });
    this.close(normal, "the terminal has ended");
  }

  #hear(data: Buffer, isBinary: boolean): void {
    this.#isAlive = true;
    if (isBinary) return this.#pass((terminal) => terminal.write(data));
    try {
      const said = terminalRequest.parse(JSON.parse(data.toString()));
      if (said.kind === "ping") this.#say({ kind: "pong" });
      else this.#pass((terminal) => terminal.resize({ columns: said.columns, rows: said.rows }));
    } catch (cause) {
      this.refuse(
        new CorralError("request.invalid", "That is no message that a terminal takes", {
          cause,
          hint: 'Send keys in binary frames, or {"kind":"resize","columns":C,"rows":R} or {"kind":"ping"}',
        }),
      );
    }
  }

  #pass(said: (terminal: WatchedTerminal) => void): void {
    if (this.gone.aborted) return;
    if (this.#terminal !== undefined) said(this.#terminal);
    else if (this.#early.push(said) > mostEarly) this.#drop();
  }

  #write(bytes: Buffer): void {
    if (this.gone.aborted) return;
    if (this.#socket.bufferedAmount > this.#limits.bufferLimit) return this.#drop();
    this.#socket.send(bytes, { binary: true });
  }

  #say(message: TerminalMessage): void {
    if (this.gone.aborted) return;
    if (this.#socket.bufferedAmount > this.#limits.bufferLimit) return this.#drop();
    this.#socket.send(JSON.stringify(message), { binary: false });
  }

  #beat(): void {
    if (!this.#isAlive) return this.#drop();
    this.#isAlive = false;
    this.#socket.ping();
    this.#say({ kind: "heartbeat" });
  }

  #drop(): void {
    this.#stop();
    this.#socket.terminate();
  }

  #stop(): void {
    clearInterval(this.#heartbeat);
    this.#gone.abort();
    this.#terminal?.leave();
    this.#terminal = undefined;
  }
}

/** Frames that may wait for the terminal. */
const mostEarly = 64;
