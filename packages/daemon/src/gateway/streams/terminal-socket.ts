import { type ClosedTerminal, CorralError, type TerminalMessage, terminalRequest } from "@corral/protocol";
import type { WebSocket } from "ws";
import type { TerminalWatch, WatchedTerminal } from "../../terminals/index.ts";
import type { Principal } from "../../routing/index.ts";
import { type StreamLimits, usualLimits } from "./feed.ts";
import { normal, Peer, Peers } from "./peer.ts";

/**
 * Terminals to their viewers, over WebSockets: output and keys in binary frames, everything else as JSON in text frames.
 *
 * 1. Keys that come before the terminal is there wait for it, in order.
 * 2. Leaving ends nothing but the viewing.
 */
export interface TerminalSockets {
  open(socket: WebSocket, who: Principal, wish: TerminalWatch): void;
  end(): void;
  readonly count: number;
}

export function openTerminalSockets({ onError, limits = usualLimits }: TerminalSocketParts): TerminalSockets {
  const peers = new Peers();
  return {
    get count() {
      return peers.count;
    },
    open(socket, who, wish) {
      const viewer = new ViewerSocket(socket, { limits, over: who.over });
      if (!peers.admit(viewer.peer, who.over)) return;
      viewer.begin(wish).catch((error: unknown) => {
        viewer.peer.refuse(error);
        if (!(error instanceof CorralError)) onError(error);
      });
    },
    end: () => peers.end(),
  };
}

interface TerminalSocketParts {
  readonly onError: (error: unknown) => void;
  readonly limits?: StreamLimits | undefined;
}

class ViewerSocket {
  readonly peer: Peer<TerminalMessage>;
  readonly #early: ((terminal: WatchedTerminal) => void)[] = [];
  #terminal: WatchedTerminal | undefined;

  constructor(socket: WebSocket, { limits, over }: { limits: StreamLimits; over: AbortSignal | undefined }) {
    this.peer = new Peer(socket, { limits, over, onMessage: (data, isBinary) => this.#hear(data, isBinary) });
    this.peer.gone.addEventListener("abort", () => this.#leave());
  }

  async begin({ watch }: TerminalWatch): Promise<void> {
    const found = await watch({
      onOutput: (bytes) => this.peer.write(bytes, { binary: true }),
      onSize: (other) => this.peer.say({ kind: "size", ...other }),
      onClosed: (closed) => this.#tellEnd(closed),
    });
    if (!("leave" in found)) return this.#tellEnd(found);
    if (this.peer.gone.aborted) return found.leave();
    this.#terminal = found;
    for (const said of this.#early.splice(0)) said(found);
  }

  #tellEnd(terminal: ClosedTerminal): void {
    this.peer.say({ kind: "closed", terminal });
    this.peer.close(normal, "the terminal has ended");
  }

  #hear(data: Buffer, isBinary: boolean): void {
    if (isBinary) return this.#pass((terminal) => terminal.write(data));
    try {
      const said = terminalRequest.parse(JSON.parse(data.toString()));
      if (said.kind === "ping") this.peer.say({ kind: "pong" });
      else this.#pass((terminal) => terminal.resize({ columns: said.columns, rows: said.rows }));
    } catch (cause) {
      this.peer.refuse(
        new CorralError("request.invalid", "That is no message that a terminal takes", {
          cause,
          hint: 'Send keys in binary frames, or {"kind":"resize","columns":C,"rows":R} or {"kind":"ping"}',
        }),
      );
    }
  }

  #pass(said: (terminal: WatchedTerminal) => void): void {
    if (this.peer.gone.aborted) return;
    if (this.#terminal !== undefined) said(this.#terminal);
    else if (this.#early.push(said) > mostEarly) this.peer.drop();
  }

  #leave(): void {
    this.#terminal?.leave();
    this.#terminal = undefined;
  }
}

/** Frames that may wait for the terminal. */
const mostEarly = 64;
