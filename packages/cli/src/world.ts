import type { TraceId } from "@corral/protocol";
import type { Readable } from "node:stream";
import type { Output } from "./terminal/output.ts";

/** The terminal that a person sits at, both ways. */
export interface Screen {
  size(): { readonly columns: number; readonly rows: number };
  /** Calls back when the size has changed, until the returned function is called. */
  onResize(listener: () => void): () => void;
  /** Every key goes to the listener, Ctrl-C too, until the returned function is called. That also happens when this program is told to end. */
  takeKeys(listener: (keys: Uint8Array) => void, onEnd: () => void): () => void;
  write(bytes: Uint8Array | string): void;
}

/** What a command touches outside itself. */
export interface World {
  readonly home: string;
  /** Used in place of the owner's, however wrong it is: whoever gave it does not want to act as the owner. */
  readonly token?: string | undefined;
  readonly cwd: string;
  /** All that the command asks for is of this trace. */
  readonly traceId: TraceId;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly out: Output;
  readonly err: Output;
  /** Undefined unless both input and output are a terminal. */
  readonly screen?: Screen | undefined;
  /** Calls back for each Ctrl-C until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
  /** Calls back when this program is told to end, as when its terminal is closed, until the returned function is called. */
  onEnd?(listener: (signal: "SIGTERM" | "SIGHUP") => void): () => void;
  /**
   * Calls back when what is written does not arrive any more, until the returned function is called. Whoever does not
   * ask for it is ended on the spot.
   */
  onOutputLost?(listener: (error: NodeJS.ErrnoException) => void): () => void;
}
