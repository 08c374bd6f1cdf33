import { existsSync, type FSWatcher, mkdirSync, watch } from "node:fs";
import { join } from "node:path";

/** Where file systems tell nothing of their changes. */
const lookEveryMs = 250;

/** Resolves when the hold is released, which a file of its name in the folder says; throws the signal's reason. */
export async function released(folder: string, name: string, signal: AbortSignal): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const done = Promise.withResolvers<void>();
  const look = () => {
    if (existsSync(join(folder, name))) done.resolve();
  };
  const leave = () => done.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  const watcher = watchFor(folder, look);
  const timer = setInterval(look, lookEveryMs);
  try {
    signal.throwIfAborted();
    look();
    await done.promise;
  } finally {
    clearInterval(timer);
    watcher?.close();
    signal.removeEventListener("abort", leave);
  }
}

/** A system that watches no more folders still has the timer. */
function watchFor(folder: string, look: () => void): FSWatcher | undefined {
  try {
    return watch(folder, look).on("error", () => undefined);
  } catch {
    return undefined;
  }
}
