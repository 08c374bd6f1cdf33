import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { describeTerminals, type TerminalsUnderTest } from "../terminals/conformance.ts";
import { openLocalDriver } from "./local.ts";
import { openDriver } from "./testing/driver.ts";

const local: TerminalsUnderTest = {
  open: openDriver,
  module: new URL("testing/driver.ts", import.meta.url).href,
  owner: undefined,
  plan: { network: "open" },
};

describeTerminals("a local environment", local, { lasting: true });

const programs = mkdtempSync(join(tmpdir(), "corral-programs-"));
afterAll(() => rmSync(programs, { recursive: true }));
for (const name of readdirSync("/usr/bin"))
  if (name !== "tmux" && name !== "script") symlinkSync(join("/usr/bin", name), join(programs, name));

describeTerminals(
  "a local environment with neither tmux nor script",
  { ...local, open: (home) => openLocalDriver({ home, variables: { PATH: programs, HOME: home } }) },
  { lasting: false },
);
