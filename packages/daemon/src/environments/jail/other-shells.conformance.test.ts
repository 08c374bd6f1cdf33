import { existsSync, realpathSync } from "node:fs";
import { describe } from "vitest";
import { describeEnvironment } from "../conformance.ts";
import { jailUnderTest, openDriverWith, shells } from "./testing/driver.ts";

/** A break leaves the loops around a function in one of them; the other one sometimes aborts after what was never ended. */
const fatal: Readonly<Record<string, readonly string[]>> = {
  bash: ["a substitution without an end"],
  busybox: ["a break and a continue"],
};

/** The promises hold whatever shell a system has as its /bin/sh. */
const others = Object.entries(shells).filter(([name, [path]]) => realpathSync("/bin/sh") !== path && isTried(name));
describe.each(others)("%s as sh (NOT TRIED where it is not installed)", (name, shell) => {
  describe.skipIf(!existsSync(shell[0]))("if it is there", () =>
    describeEnvironment(`jail with ${name}`, {
      ...jailUnderTest,
      opening: "sparing",
      open: openDriverWith(shell),
      module: new URL(`testing/driver.ts?shell=${name}`, import.meta.url).href,
      fatal: fatal[name] ?? [],
    }),
  );
});

/** The one that differs most is always tried; the others take another half minute each. */
function isTried(name: string): boolean {
  if (name === "busybox" || process.env["CORRAL_LONG"] === "1") return true;
  console.warn(`SKIPPED: a jail with ${name} as its sh. CORRAL_LONG=1 tries it, too.`);
  return false;
}
