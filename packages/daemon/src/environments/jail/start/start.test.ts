import type { ProcessIdentity } from "@corral/protocol";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { bootId, isAlive, signal } from "../../system/process-identity.ts";
import { readyLine } from "../../keeper/index.ts";
import { Builders } from "./builders.ts";
import { startJail } from "./start.ts";

test.each([
  ["does not tell of its inner half in time", "wait", true],
  ["was killed before it told of its inner half", "kill -9 $$", false],
])("a bubblewrap that %s is ended with it", async (_, then, lives) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const spool = mkdtempSync(join(tmpdir(), "corral-start-"));
  onTestFinished(() => rmSync(spool, { recursive: true }));
  const [bubblewrap, halves] = ["bwrap", "halves"].map((name) => join(spool, name)) as [string, string];
  writeFileSync(bubblewrap, `#!/bin/sh\nsleep 3000 &\ncat /proc/$$/stat /proc/$!/stat >${halves}\n${then}\n`, {
    mode: 0o755,
  });
  const start = startJail(new Builders(), {
    orders: { doors: [], bubblewrap, command: ["true"] },
    walls: () => ({ options: [], seccomp: Buffer.alloc(0), spool, covered: Promise.resolve() }),
    limit: () => undefined,
    tighten: () => undefined,
    record: () => undefined,
    deadlineMs: 1_000,
  });
  const refused = start.catch((error: unknown) => error);
  const found = () => readFileSync(halves, "latin1").trim().split("\n").map(identityIn);
  await expect.poll(() => found().map(isAlive)).toEqual([lives, true]);
  const both = found();
  vi.advanceTimersByTime(1_000);
  expect(await refused).toMatchObject({ code: "jail.unavailable" });
  await expect.poll(() => both.filter(isAlive)).toEqual([]);
});

test("a jail that said in time that it is ready is taken, though this process stood still until the time was up", async () => {
  const spool = mkdtempSync(join(tmpdir(), "corral-start-"));
  onTestFinished(() => rmSync(spool, { recursive: true }));
  const [bubblewrap, said] = ["bwrap", "said"].map((name) => join(spool, name)) as [string, string];
  const tells = `printf '{"child-pid": %s}\\n' $$ >&4; read -r word; echo '${readyLine}' >&2; : >'${said}'`;
  writeFileSync(bubblewrap, `#!/bin/sh\n${tells}\nexec sleep 3000\n`, { mode: 0o755 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const deadlineMs = 1_000;
  /** What is said meanwhile is not heard before the time is up. */
  const standStill = () => {
    while (!existsSync(said)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    vi.advanceTimersByTime(deadlineMs);
  };
  const supervisor = await startJail(new Builders(), {
    orders: { doors: [], bubblewrap, command: ["true"] },
    walls: () => ({ options: [], seccomp: Buffer.alloc(0), spool, covered: Promise.resolve() }),
    limit: () => undefined,
    tighten: () => undefined,
    record: () => void setImmediate(standStill),
    deadlineMs,
  });
  onTestFinished(() => void signal(supervisor, "SIGKILL"));
  expect(isAlive(supervisor)).toBe(true);
});

/** Of what the kernel says of a process. */
function identityIn(stat: string): ProcessIdentity {
  const words = stat.split(" ");
  return { pid: Number(words[0]), startTime: words[21]!, bootId: bootId() };
}
