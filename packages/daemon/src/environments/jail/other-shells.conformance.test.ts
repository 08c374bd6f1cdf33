import { existsSync, realpathSync } from "node:fs";
import { describe } from "vitest";
import { describeEnvironment } from "../conformance.ts";
import { jailOwner } from "./jail.ts";
import { openDriverWith, shells } from "./testing/driver.ts";

/** The promises hold whatever shell a system has as its /bin/sh. */
for (const [name, shell] of Object.entries(shells)) {
  if (realpathSync("/bin/sh") === shell[0]) continue;
  if (existsSync(shell[0])) {
    describeEnvironment(`jail with ${name}`, {
      open: openDriverWith(shell),
      module: new URL(`testing/driver.ts?shell=${name}`, import.meta.url).href,
      owner: jailOwner(),
      ...(name === "busybox" ? { strayBreak: "ends the shell" as const } : {}),
    });
  } else {
    describe.skip(`jail with ${name}: NOT TRIED, ${shell[0]} is not installed`, () => undefined);
  }
}
