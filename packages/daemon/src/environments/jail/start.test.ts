import type { ProcessIdentity } from "@corral/protocol";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bootId, isAlive } from "../process-identity.ts";
import { Builders } from "./builders.ts";
import { startJail } from "./start.ts";

test.each([
  ["does not tell of its inner half in time", "wait"],
  ["was killed before it told of its inner half", "kill -9 $$"],
])("a bubblewrap that %s is ended with it", async (_, then) => {
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
    deadlineMs: 3_000,
  });
  await expect(start).rejects.toMatchObject({ code: "jail.unavailable" });
  const both = readFileSync(halves, "latin1").trim().split("\n").map(identityIn);
  expect(both).toHaveLength(2);
  await expect.poll(() => both.filter(isAlive)).toEqual([]);
});

/** Of what the kernel says of a process. */
function identityIn(stat: string): ProcessIdentity {
  const words = stat.split(" ");
  return { pid: Number(words[0]), startTime: words[21]!, bootId: bootId() };
}
