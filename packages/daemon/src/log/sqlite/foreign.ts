import { type FSWatcher, watch } from "node:fs";

export interface ForeignWatch {
  stop(): void;
}

/** Looked at this often even if nothing was seen, for file systems that do not tell. */
const usualPollMs = 1000;
/** Sightings are gathered this long: a burst of writes, our own included, costs one look. */
const gatherMs = 2;

/**
 * Calls `look` soon after any process wrote to the database's write-ahead log, and now and then anyway. Keeps no
 * process alive. Must be started while a connection is open, for then the file stays.
 */
export function watchForeign(file: string, look: () => void, pollMs: number = usualPollMs): ForeignWatch {
  let gathering: NodeJS.Timeout | undefined;
  const seen = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      look();
    }, gatherMs).unref();
  };
  const watcher = watchFile(`${file}-wal`, seen);
  const poll = setInterval(look, pollMs).unref();
  return {
    stop() {
      clearTimeout(gathering);
      clearInterval(poll);
      watcher?.close();
    },
  };
}

/** Undefined where the system cannot watch (any more); the poll is left then. */
function watchFile(file: string, seen: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(file, { persistent: false }, seen);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
