import { watch } from "chokidar";

/** Tells when one of the files may have changed, come or gone. It may do so once too often, never too seldom. */
export interface Watch {
  add(files: readonly string[]): void;
  remove(files: readonly string[]): void;
  close(): Promise<void>;
}

/** Many programs empty a file before they write it: what is seen in between is nobody's word. */
const restMs = 50;

/** Resolves when changes are seen. A file is told of once it has come to rest. */
export async function watchFiles(
  files: readonly string[],
  onChange: (file: string) => void,
  onError: (error: unknown) => void,
): Promise<Watch> {
  const timers = new Map<string, NodeJS.Timeout>();
  const ready = Promise.withResolvers<void>();
  const watcher = watch([...files], { atomic: false });
  watcher.on("all", (_what, file) => {
    clearTimeout(timers.get(file));
    const tell = () => {
      timers.delete(file);
      onChange(file);
    };
    timers.set(file, setTimeout(tell, restMs));
  });
  watcher.on("error", onError);
  watcher.on("ready", () => ready.resolve());
  await ready.promise;
  return {
    add: (more) => void watcher.add([...more]),
    remove: (others) => void watcher.unwatch([...others]),
    async close() {
      await watcher.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
