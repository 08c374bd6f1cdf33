import { expect, test } from "vitest";
import { AwakeClock } from "./awake-clock.ts";

test("time goes on while it is looked at, and a sleep counts as one step", () => {
  let source = 1_000_000;
  const clock = new AwakeClock(() => source, 3000);
  const read = (elapsed: number) => {
    source += elapsed;
    return clock.now();
  };
  expect([read(0), read(1000), read(1500), read(8 * 3_600_000), read(1000)]).toEqual([0, 1000, 2500, 5500, 6500]);
});
