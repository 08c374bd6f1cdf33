import { expect, test } from "vitest";
import { daemonLacks } from "./provider-hints.ts";

test("a key that is set here and not where the daemon started is told as such", () => {
  const hint = "Run `corral auth login anthropic`, or set ANTHROPIC_API_KEY where the daemon starts.";
  expect(daemonLacks(hint, { variables: { ANTHROPIC_API_KEY: "x" } })).toBe(
    "ANTHROPIC_API_KEY is set here, but the daemon was started without it: `corral stop`, and try again.",
  );
  expect(daemonLacks(hint, { variables: { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "x" } })).toBeUndefined();
});
