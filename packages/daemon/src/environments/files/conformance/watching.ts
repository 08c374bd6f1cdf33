import { describe, expect, test } from "vitest";
import type { OpenFiles } from "../files.ts";
import type { OpenFixture } from "./fixture.ts";

export function watching(open: OpenFixture): void {
  describe("watch", () => {
    test("tells of files that change, come and go", async () => {
      const { files, run } = await open();
      await run("mkdir -p deep/er; echo 1 >file; echo 1 >deep/er/one; echo 1 >other");
      const flat = await watchIn(files, ["file", "late"]);
      const deep = await watchIn(files, ["deep"], { deep: true });
      await run("echo 22 >file; echo 2 >other; echo 2 >deep/er/two; rm deep/er/one");
      expect(await flat.told("file")).toEqual(["file"]);
      expect(await deep.told("deep/er/one", "deep/er/two")).toEqual(["deep/er/one", "deep/er/two"]);
      await run("echo >late");
      expect(await flat.told("late")).toEqual(["file", "late"]);
      flat.stop();
      deep.stop();
    });
  });
}

async function watchIn(files: OpenFiles, paths: readonly string[], options: { deep?: boolean } = {}) {
  const stop = new AbortController();
  const seen = new Set<string>();
  let onSeen = (): void => undefined;
  await new Promise<void>((resolve, reject) => {
    files.watch(paths, {
      ...options,
      signal: stop.signal,
      onReady: resolve,
      onEnd: reject,
      onChange: (changed) => {
        for (const path of changed) seen.add(path);
        onSeen();
      },
    });
  });
  return {
    stop: () => stop.abort(),
    /** All that was told so far, once these were. */
    told: (...wanted: string[]) =>
      new Promise<string[]>((resolve) => {
        onSeen = () => {
          if (wanted.every((path) => seen.has(path))) resolve([...seen].toSorted());
        };
        onSeen();
      }),
  };
}
