import { readTraces } from "./answers.ts";
import type { Hand } from "./hands/hand.ts";
import type { WatchOptions } from "./port.ts";

export interface Watch extends WatchOptions {
  readonly hand: () => Promise<Hand>;
  /** As the hand is asked for them. */
  readonly paths: readonly string[];
  /** As they were given, and are told. */
  readonly names: readonly string[];
}

/**
 * Looks again and again, since nothing inside an environment can be relied on to tell of changes. What is the same is told
 * apart without being read; the longer a look takes, the rarer it is.
 */
export function watchPaths(watch: Watch): void {
  void keepLooking(watch).catch((error: unknown) => {
    if (!watch.signal.aborted) watch.onEnd?.(error);
  });
}

async function keepLooking({ hand, paths, names, deep = false, signal, onChange, onReady }: Watch): Promise<void> {
  const told = new Map(paths.map((path, index) => [path, names[index]!]));
  const look = async (): Promise<Buffer> => {
    const words = ["scan", deep ? "deep" : "flat", String(maxFiles), ...paths] as const;
    const request = { words, maxBytes: 2 ** 24, timeoutMs: 20_000, signal };
    const asked = await hand();
    return asked.ask(request).catch(() => asked.ask(request));
  };
  let before = await look();
  onReady?.();
  for (let took = 0; ;) {
    await rest(Math.max(restMs, 20 * took), signal);
    const began = performance.now();
    const now = await look();
    took = performance.now() - began;
    if (now.equals(before)) continue;
    const changed = differences(before, now, deep).map(
      (path) => told.get(path) ?? (path.startsWith("./") ? path.slice(2) : path),
    );
    before = now;
    if (changed.length > 0 && !signal.aborted) onChange(changed);
  }
}

const restMs = 300;
const maxFiles = 20_000;

/** A folder that is watched with all that lies in it has changed only if it is another one: the rest is told by what lies in it. */
function differences(before: Buffer, now: Buffer, deep: boolean): string[] {
  const signs = (answer: Buffer): Map<string, string> =>
    new Map(
      readTraces(answer).map(({ path, isFolder, mode, inode, content }) => [
        path,
        isFolder && deep ? `${mode} ${inode}` : `${mode} ${inode} ${content}`,
      ]),
    );
  const [old, fresh] = [signs(before), signs(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].filter((path) => old.get(path) !== fresh.get(path)).toSorted();
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    timer.unref();
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
