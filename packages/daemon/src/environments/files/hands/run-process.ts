import type { SpawnOptions } from "../../port.ts";
import { plainVariables, type Spawn } from "./hand.ts";

export interface ProcessRun {
  readonly argv: SpawnOptions["argv"];
  readonly input?: Uint8Array;
  /** Gives false to end it: enough was seen. */
  readonly onOutput: (chunk: Buffer) => boolean;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ProcessEnd {
  /** `enough`: its output was, and it was ended. */
  readonly kind: "ended" | "enough" | "too slow";
  readonly exitCode: number;
  /** The end of it. */
  readonly stderr: string;
  /** Settles when its process is no more. */
  readonly gone: Promise<unknown>;
}

/** Whether it came to an end of its own. One that was ended by others, with all of its environment's processes, has not seen everything. */
export function isWhole({ kind, exitCode }: Pick<ProcessEnd, "kind" | "exitCode">): boolean {
  return kind === "ended" && exitCode <= 128;
}

/** Runs a program inside to its end, or until enough was seen, the time is up or the signal aborted. */
export async function runProcess(
  spawn: Spawn,
  { argv, input, onOutput, timeoutMs, signal }: ProcessRun,
): Promise<ProcessEnd> {
  signal?.throwIfAborted();
  const spawned = await spawn({ argv, variables: plainVariables });
  const gone = spawned.ended.catch(() => undefined);
  let kind: ProcessEnd["kind"] = "ended";
  let stderr = "";
  const { promise: cut, resolve: onCut } = Promise.withResolvers<undefined>();
  const stop = (why: ProcessEnd["kind"]): void => {
    if (kind === "ended") kind = why;
    spawned.kill();
    onCut(undefined);
  };
  const onAbort = (): void => stop("enough");
  const slow = setTimeout(() => stop("too slow"), timeoutMs);
  signal?.addEventListener("abort", onAbort);
  spawned.stdin.on("error", () => undefined);
  spawned.stdin.end(input);
  spawned.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)));
  const drained = new Promise((resolve) => {
    spawned.stdout.on("data", (chunk: Buffer) => {
      if (kind === "ended" && !onOutput(chunk)) stop("enough");
    });
    spawned.stdout.on("close", resolve);
  });
  try {
    const end = await Promise.race([cut, Promise.all([spawned.ended, drained])]);
    signal?.throwIfAborted();
    return { kind, exitCode: end?.[0].exitCode ?? 137, stderr: stderr.trim(), gone };
  } finally {
    clearTimeout(slow);
    signal?.removeEventListener("abort", onAbort);
  }
}
