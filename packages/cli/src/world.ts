import type { TraceId } from "@corral/protocol";
import type { Readable } from "node:stream";
import type { Output } from "./terminal.ts";

/** What a command touches outside itself. */
export interface World {
  readonly home: string;
  readonly cwd: string;
  /** All that the command asks for is of this trace. */
  readonly traceId: TraceId;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly out: Output;
  readonly err: Output;
  /** Calls back for each Ctrl-C until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
}
