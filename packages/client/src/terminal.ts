import type { ClosedTerminal, SessionId, ShellId, TerminalId, TerminalMessage, TerminalSize } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { addressOf, routeOf } from "./address.ts";
import { connectionLost, parsed } from "./connection.ts";
import { isProblem, isRecord } from "./shapes.ts";
import type { OpenSocket, Socket } from "./socket.ts";
import type { Transport } from "./transport.ts";

export interface AttachTerminal {
  /** The size of who watches, which the terminal takes on. */
  readonly size?: TerminalSize | undefined;
  /** First the screen so far, then all that comes. */
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Somebody else gave it another size. */
  readonly onSize?: (size: TerminalSize) => void;
  /** Aborted, it is left: what runs on it goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** A terminal that is watched. */
export interface AttachedTerminal {
  write(keys: Uint8Array): void;
  resize(size: TerminalSize): void;
  /**
   * How it ended; undefined when it was left. Rejects with what the daemon refused, or with `daemon.unreachable` when the connection broke: it
   * may be attached again, and begins with the screen.
   */
  readonly over: Promise<ClosedTerminal | undefined>;
}

/** Keys in one frame: the daemon takes no more. */
const framed = 4096;

export function attachTerminal(
  { transport, openSocket }: { readonly transport: Transport; readonly openSocket: OpenSocket },
  { of, terminal }: { readonly of: ShellId | SessionId; readonly terminal: TerminalId },
  { size, onOutput, onSize, signal }: AttachTerminal,
): AttachedTerminal {
  const route = routeOf(of.startsWith("ses_") ? "sessions.watchTerminal" : "shells.watchTerminal");
  const path = addressOf(route, [of, terminal], size);
  const { promise: over, resolve, reject } = Promise.withResolvers<ClosedTerminal | undefined>();
  const socket = openSocket(transport.endpoint.url.replace(/^http/, "ws") + path, {
    ...transport.proof(),
    ...transport.trace(),
  });
  socket.binaryType = "arraybuffer";
  const early: (string | Uint8Array)[] = [];
  let isOpen = false;
  const send = (frame: string | Uint8Array) => {
    if (isOpen) socket.send?.(frame);
    else early.push(frame);
  };
  socket.addEventListener("open", () => {
    isOpen = true;
    for (const frame of early.splice(0)) send(frame);
  });
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return onOutput(new Uint8Array(data as ArrayBuffer));
    const message = parsed(data) as TerminalMessage;
    if (!isRecord(message)) return;
    if (message.kind === "size") onSize?.({ columns: message.columns, rows: message.rows });
    else if (message.kind === "closed") resolve(message.terminal);
    else if (message.kind === "problem")
      reject(isProblem(message.problem) ? CorralError.fromProblem(message.problem) : connectionLost());
  });
  // A socket that is refused tells no reason; the same asked without one does.
  const broken = () => {
    if (isOpen) return reject(connectionLost());
    transport.send({ method: "GET", path: addressOf(route, [of, terminal]), signal }).then(
      () => reject(connectionLost()),
      (error: unknown) =>
        reject(error instanceof CorralError && error.code === "stream.upgrade-needed" ? connectionLost(error) : error),
    );
  };
  socket.addEventListener("close", broken);
  socket.addEventListener("error", broken);
  leaveWhen(signal, socket, resolve);
  return {
    write(keys) {
      for (let from = 0; from < keys.length; from += framed) send(keys.slice(from, from + framed));
    },
    resize: ({ columns, rows }) => send(JSON.stringify({ kind: "resize", columns, rows })),
    over,
  };
}

function leaveWhen(signal: AbortSignal | undefined, socket: Socket, resolve: (left: undefined) => void): void {
  const leave = () => {
    resolve(undefined);
    socket.close();
  };
  if (signal?.aborted === true) leave();
  else signal?.addEventListener("abort", leave, { once: true });
}
