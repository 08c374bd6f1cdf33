import type { CorralError, EnvironmentWish } from "@corral/protocol";
import { expect, test } from "vitest";
import type { EnvironmentDrivers } from "./drivers.ts";
import { openTrials } from "./trials.ts";

const jail: EnvironmentWish = { kind: "jail", network: "off" };
const container: EnvironmentWish = { kind: "container", network: "off" };

function stage() {
  const world = { ok: true, tried: 0, clock: 0, waiting: [] as (() => void)[] };
  const probe = () => {
    world.tried += 1;
    return Promise.resolve(world.ok ? { ok: true } : { ok: false, reason: "no walls", fix: "build some" });
  };
  const drivers = { of: () => ({ probe }) } as unknown as EnvironmentDrivers;
  const trials = openTrials({ drivers, now: () => world.clock, later: (work) => void world.waiting.push(work) });
  const outcome = (wish = jail) =>
    trials.mustOpen(wish).then(
      () => "opens",
      (error: unknown) => {
        const { code, message, hint } = error as CorralError;
        return `${code}: ${message}; ${hint}`;
      },
    );
  return { world, outcome };
}

const refused = "jail.unavailable: no walls; build some";

test("a jail that opened is not tried again by who comes soon after, nor by those who come at once", async () => {
  const { world, outcome } = stage();
  expect(await Promise.all([outcome(), outcome(), outcome()])).toEqual(["opens", "opens", "opens"]);
  world.clock = 59_999;
  expect([await outcome(), world.tried, world.waiting.length]).toEqual(["opens", 1, 0]);
});

test("after a while it is tried again, once and behind who asks, and what is found counts for the next", async () => {
  const { world, outcome } = stage();
  await outcome();
  world.clock = 60_000;
  world.ok = false;
  expect([await outcome(), await outcome(), world.tried, world.waiting.length]).toEqual(["opens", "opens", 1, 1]);
  world.waiting.shift()?.();
  await Promise.resolve();
  await expect.poll(() => outcome()).toBe(refused);
});

test("what failed is tried each time", async () => {
  const { world, outcome } = stage();
  world.ok = false;
  expect([await outcome(), await outcome(), world.tried]).toEqual([refused, refused, 2]);
  world.ok = true;
  expect(await outcome()).toBe("opens");
});

test("a container is tried each time: its engine and its image come and go", async () => {
  const { world, outcome } = stage();
  expect([await outcome(container), await outcome(container), world.tried]).toEqual(["opens", "opens", 2]);
});
