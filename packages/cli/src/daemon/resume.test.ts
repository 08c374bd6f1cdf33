import { createClient } from "@corral/client";
import { CorralError } from "@corral/protocol";
import { expect, test } from "vitest";
import { persistently } from "./resume.ts";
import { testWorld } from "../testing/world.ts";

test("a lost daemon is waited for a minute, then given up with the way to go on", () => {
  const { world, written } = testWorld();
  const client = createClient({ url: "http://127.0.0.1:1", token: "t" });
  let now = 1_000_000;
  const onBreak = persistently(client, world, { session: "ses_a", now: () => now });
  const fail = (attempt: number) =>
    onBreak({ error: new CorralError("daemon.unreachable", "gone"), attempt, cursor: 7 });
  fail(1);
  expect(written.err).toBe("");
  fail(2);
  now += 59_000;
  fail(3);
  expect(written.err).toBe("connection to the daemon lost, waiting for it to come back\n");
  now += 2_000;
  expect(() => fail(4)).toThrow(
    expect.objectContaining({
      code: "daemon.unreachable",
      hint: expect.stringContaining("corral events --session ses_a --follow --after 7"),
    }),
  );
});

test("what ran in a shell is found there again", () => {
  const { world } = testWorld();
  let now = 0;
  const onBreak = persistently(createClient({ url: "http://127.0.0.1:1", token: "t" }), world, {
    shell: "shl_a",
    now: () => now,
  });
  const fail = (attempt: number) =>
    onBreak({ error: new CorralError("daemon.unreachable", "gone"), attempt, cursor: 0 });
  fail(1);
  now += 61_000;
  expect(() => fail(2)).toThrow(
    expect.objectContaining({
      hint: "Start it with `corral serve` and continue with `corral shell --in shl_a`; `corral audit` shows how its commands ended",
    }),
  );
});

test("a connection that was back in between starts the minute anew", () => {
  const { world } = testWorld();
  let now = 0;
  const onBreak = persistently(createClient({ url: "http://127.0.0.1:1", token: "t" }), world, { now: () => now });
  const fail = (attempt: number) =>
    onBreak({ error: new CorralError("daemon.unreachable", "gone"), attempt, cursor: 7 });
  fail(1);
  now += 90_000;
  fail(1);
  now += 50_000;
  expect(() => fail(2)).not.toThrow();
});
