import type { SpawnedProcess } from "../../port.ts";
import { frame, readFrames } from "./frames.ts";
import { type Hand, HandLost, HandRefused, type HandRequest, isGone, plainVariables, type Spawn } from "./hand.ts";
import { perlScript } from "./perl-script.ts";

/**
 * One perl process that answers request after request.
 *
 * Invariants
 * 1. Answers arrive in the order of the requests. `waiting` holds the unanswered requests of the living process.
 * 2. Every request settles: by its answer, the end of its process, its time limit or its signal.
 * 3. A request that was given up keeps its place in `waiting`, so its late answer is not taken for another's.
 * 4. A process that was too slow, or sent an answer that nobody asked for, is ended. The next request starts another.
 * 5. An idle process is ended after a while, and soon if it used much memory, because perl returns none.
 */
export async function openPerlHand(spawn: Spawn, idleMs = 30_000): Promise<Hand | undefined> {
  let living: Process | undefined;

  async function process(): Promise<Process> {
    if (living === undefined || living.isOver) {
      living = startProcess(await spawn(perl), idleMs);
    }
    return living;
  }

  if (!(await isThere(await process()))) return undefined;
  let starting: Promise<Process> | undefined;
  return {
    async ask(request) {
      if (living === undefined || living.isOver) {
        starting ??= process().finally(() => (starting = undefined));
        await starting;
      }
      return living!.ask(request);
    },
    async close() {
      living?.end("ended");
      if (living !== undefined) await isGone(living.gone);
    },
  };
}

const perl = {
  argv: ["sh", "-c", 'command -v perl >/dev/null && exec perl -e "$0"; exit 127', perlScript],
  variables: plainVariables,
} as const;

const startMs = 10_000;

/** Without perl the shell says 127. One that was ended meanwhile says nothing about perl. */
async function isThere({ ready, gone, end }: Process): Promise<boolean> {
  const slow = setTimeout(() => end("too slow"), startMs);
  try {
    await ready;
    return true;
  } catch (error) {
    const exitCode = (await gone)?.exitCode;
    if (exitCode === undefined || exitCode > 128) throw error;
    return false;
  } finally {
    clearTimeout(slow);
  }
}

interface Process {
  readonly ready: Promise<void>;
  /** Settles when the process is no more. */
  readonly gone: Promise<{ readonly exitCode: number } | undefined>;
  readonly isOver: boolean;
  ask(request: HandRequest): Promise<Buffer>;
  readonly end: (why: HandLost["why"]) => void;
}

interface Waiting {
  readonly maxBytes: number;
  readonly settle: (answer: Buffer | HandLost) => void;
}

function startProcess(spawned: SpawnedProcess, idleMs: number): Process {
  const waiting: Waiting[] = [];
  const gone = spawned.ended.catch(() => undefined);
  let isOver = false;
  let wasHeavy = false;
  let idle: NodeJS.Timeout | undefined;
  const { promise: ready, resolve: onReady, reject: onFailure } = Promise.withResolvers<void>();
  ready.catch(() => undefined);
  waiting.push({ maxBytes: 64, settle: (answer) => (answer instanceof Error ? onFailure(answer) : onReady()) });

  function end(why: HandLost["why"]): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(idle);
    spawned.kill();
    for (const { settle } of waiting.splice(0)) settle(new HandLost(why, gone));
  }

  function rest(): void {
    idle = setTimeout(() => end("ended"), wasHeavy ? heavyIdleMs : idleMs);
    idle.unref();
  }

  const take = readFrames(
    () => waiting[0]?.maxBytes ?? 0,
    (answer) => {
      const first = waiting.shift();
      if (first === undefined) return end("not believed");
      if (answer.length > heavyBytes) wasHeavy = true;
      if (waiting.length === 0) rest();
      first.settle(answer);
    },
    () => end("not believed"),
  );
  spawned.stdout.on("data", take);
  spawned.stdout.on("close", () => end("ended"));
  spawned.stdout.on("error", () => end("ended"));
  spawned.stdin.on("error", () => end("ended"));
  spawned.stderr.resume();

  function ask({ words, content, maxBytes, timeoutMs, signal }: HandRequest): Promise<Buffer> {
    signal?.throwIfAborted();
    clearTimeout(idle);
    if ((content?.length ?? 0) > heavyBytes) wasHeavy = true;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const slow = setTimeout(() => {
      settle(new HandLost("too slow", gone));
      end("ended");
    }, timeoutMs);
    const onAbort = (): void => settle(signal!.reason as Error);
    function settle(answer: Buffer | Error): void {
      clearTimeout(slow);
      signal?.removeEventListener("abort", onAbort);
      if (answer instanceof Error) reject(answer);
      else if (answer[0] === plus) resolve(answer.subarray(1));
      else reject(new HandRefused(answer.toString("utf8", 1).trim()));
    }
    signal?.addEventListener("abort", onAbort);
    // One byte says how it ended.
    waiting.push({ maxBytes: maxBytes + 1, settle });
    spawned.stdin.write(
      frame(content === undefined ? [Buffer.from(words.join("\0"))] : [Buffer.from(`${words.join("\0")}\0`), content]),
    );
    return promise;
  }

  return {
    ready,
    gone,
    ask,
    end,
    get isOver() {
      return isOver;
    },
  };
}

const plus = "+".charCodeAt(0);
const heavyBytes = 2 ** 22;
const heavyIdleMs = 1000;
