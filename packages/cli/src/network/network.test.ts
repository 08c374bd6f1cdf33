import { expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { testWorld } from "../testing/world.ts";

test.each([
  [["network", "alow"], 'unknown word "alow"'],
  [["network", "allow"], "which host?"],
  [["network", "allow", "127.0.0.1"], '"127.0.0.1" cannot be listed: expected a host name'],
  [["network", "allow", "http://2130706433/"], '"http://2130706433/" cannot be listed: expected a host name'],
  [["network", "allow", "localhost"], '"localhost" cannot be listed: expected a host name'],
  [["network", "allow", "*"], '"*" cannot be listed: expected a host name'],
  [["network", "allow", "a@b.example"], '"a@b.example" cannot be listed: expected a host name'],
  [["network", "--project"], "--project is for allow and deny"],
  [["network", "allow", "a.example", "--project", "--local"], "--project and --local exclude each other"],
  [["network", "allow", "a.example", "--session", "ses_1"], "--session is for `corral network` alone, not for allow"],
  [["network", "--session", "mine"], '"mine" is not a session id'],
  [["run", "--network", "maybe", "x"], '--network needs off, allow or open, not "maybe"'],
])("%j is a mistake that is explained", async (words, complaint) => {
  const { world, written } = testWorld();
  expect(await dispatch(words, world)).toBe(2);
  expect(written.err).toContain(`error: ${complaint}`);
});
