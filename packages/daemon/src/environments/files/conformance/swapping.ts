import { CorralError } from "@corral/protocol";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpenFiles } from "../files.ts";
import type { Spawn } from "../hands/hand.ts";
import type { OpenFixture } from "./fixture.ts";

export function swapped(open: OpenFixture): void {
  describe("somebody who swaps folders and links", () => {
    test("never gets a read or a write to the other side of the walls", async ({ skip }) => {
      const { files, spawn, outside } = await open();
      if (outside === undefined) return skip("there are no walls");
      expect(await race({ files, spawn, outside, rounds: 150 })).toEqual({ read: false, written: false });
    });

    test("gets every request an answer", async () => {
      const { files, spawn } = await open();
      const meddler = await spawn({ argv: ["sh", "-c", swapping("safe")] });
      for (let time = 0; time < 30; time += 1) {
        const outcomes = await Promise.allSettled([
          files.read("way/file"),
          files.write("way/file", "new"),
          files.list("way"),
          files.stat("way/file"),
        ]);
        const odd = outcomes.flatMap((each) =>
          each.status === "rejected" && !(each.reason instanceof CorralError) ? [each.reason as unknown] : [],
        );
        expect(odd).toEqual([]);
      }
      meddler.kill();
      await meddler.ended.catch(() => undefined);
    });
  });
}

/** Reads and writes by a way that is a folder now and a link to the outside then, until both got there or the rounds are over. */
export async function race({ files, spawn, outside, rounds }: Race): Promise<{ read: boolean; written: boolean }> {
  const meddler = await spawn({ argv: ["sh", "-c", swapping(outside)] });
  let [read, written] = [false, false];
  for (let round = 0; round < rounds && !(read && written); round += 1) {
    const [got] = await Promise.all([
      files.read("way/secret").catch(() => undefined),
      files.write("way/file", "planted").catch(() => undefined),
    ]);
    read ||= got !== undefined;
    written ||= existsSync(join(outside, "file"));
  }
  meddler.kill();
  await meddler.ended.catch(() => undefined);
  return { read, written: written || readdirSync(outside).length !== 1 };
}

interface Race {
  readonly files: OpenFiles;
  readonly spawn: Spawn;
  /** Holds the file `secret` and nothing else. */
  readonly outside: string;
  readonly rounds: number;
}

function swapping(target: string): string {
  return `mkdir -p safe; echo inside >safe/file
    while :; do ln -sfn ${target} way; rm -f way; mkdir way; echo inside >way/file; rm -rf way; done 2>/dev/null`;
}
