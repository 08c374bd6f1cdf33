import { watch } from "chokidar";

/** Calls back when one of the files may have changed, come or gone. It may do so once too often, never too seldom. */
export interface Watch {
  add(files: readonly string[]): void;
  remove(files: readonly string[]): void;
  close(): Promise<void>;
}

export async function watchFiles(
  files: readonly string[],
  onChange: (file: string) => void,
  onError: (error: unknown) => void,
): Promise<Watch> {
  const ready = Promise.withResolvers<void>();
  // What replaces a file is a change of it, and is told at once.
  const watcher = watch([...files], { ignoreInitial: false, atomic: false });
  watcher.on("all", (_what, file) => onChange(file));
  watcher.on("error", onError);
  watcher.on("ready", () => ready.resolve());
  await ready.promise;
  return {
    add: (more) => void watcher.add([...more]),
    remove: (others) => void watcher.unwatch([...others]),
    close: () => watcher.close(),
  };
}
