import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import type { World } from "../world.ts";

/** A world that remembers what was written and can press Ctrl-C. */
export function testWorld(input?: string) {
  const written = { out: "", err: "" };
  const listeners = new Set<() => void>();
  const stdin: World["stdin"] = Readable.from(input === undefined ? [] : [input]);
  if (input === undefined) Object.assign(stdin, { isTTY: true });
  const home = mkdtempSync(join(tmpdir(), "corral-cli-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const world: World = {
    home,
    cwd: "/repo",
    traceId: "0123456789abcdef0123456789abcdef",
    variables: {},
    stdin,
    now: () => Date.parse("2026-01-01T00:03:00.000Z"),
    out: { write: (text) => void (written.out += text), colour: false, columns: 80 },
    err: { write: (text) => void (written.err += text), colour: false, columns: 80 },
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const pressCtrlC = () => {
    for (const listener of listeners) listener();
  };
  return { world, written, pressCtrlC };
}
