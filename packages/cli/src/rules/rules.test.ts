import { expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { testWorld } from "../testing/world.ts";

test.each([
  [["rules", "chek"], 'unknown word "chek"'],
  [["rules", "check"], "which command?"],
  [["rules", "check", "ls", "--mode", "careful"], '--mode needs plan, ask or auto, not "careful"'],
  [["rules", "check", "ls", "--env", "vm"], '--env needs jail, container or local, not "vm"'],
  [["rules", "forget"], "which rule?"],
  [["rules", "forget", "ls"], '"ls" is no id of a rule'],
  [["rules", "list", "all"], 'unexpected word "all"'],
  [["rules", "--agent", "-x"], "--agent needs"],
  [["rules", "--session", "mine"], '--session needs the id of a session, not "mine"'],
])("%j is a mistake that is explained", async (words, complaint) => {
  const { world, written } = testWorld();
  expect(await dispatch(words, world)).toBe(2);
  expect(written.err).toContain(`error: ${complaint}`);
});
