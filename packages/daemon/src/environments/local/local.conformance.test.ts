import { join } from "node:path";
import { describe } from "vitest";
import { describeEnvironment, type DriverUnderTest } from "../conformance.ts";
import { openDriverWith } from "./testing/driver.ts";

describeEnvironment("local", {
  ...localUnderTest(),
  opening: "sparing",
  open: openDriverWith(""),
  module: driverModule(""),
});

// Its way to find processes is a script of its own, so it is tried with the shell that differs most from dash, too.
const isLong = process.env["CORRAL_LONG"] === "1";
if (!isLong) console.warn("SKIPPED: local with bash. CORRAL_LONG=1 tries it, too.");
describe.runIf(isLong)("with another shell", () => {
  describeEnvironment("local with bash", {
    ...localUnderTest(),
    opening: "sparing",
    open: openDriverWith("bash"),
    module: driverModule("bash"),
  });
});

function driverModule(shell: string): string {
  return new URL(`testing/driver.ts?shell=${shell}`, import.meta.url).href;
}

function localUnderTest(): Omit<DriverUnderTest, "open" | "module"> {
  return {
    owner: undefined,
    // Neither "off" nor "read" can be kept without walls, and so they are refused.
    plan: { network: "open" },
    paths: (home, { id, workspace }) => {
      const spool = join(home, "environments", "local", id, "spool");
      return { workspace, spool, spoolOutside: spool };
    },
    promises: {
      walledProcesses: {
        weaker:
          "Without a namespace a signal to everyone reaches everyone, and who sheds marker, session and parent is lost from sight.",
      },
    },
  };
}
