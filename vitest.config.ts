import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { inMemory } from "./scripts/in-memory.ts";
import { LongestFirst } from "./scripts/longest-first.ts";

/** About the sources, not about what is shipped. */
const ofSources = ["tests/imports.test.ts"];

/** Unit tests that look at, or change, what their whole process has, or that spend their time in other programs. */
const alone = [
  "packages/cli/src/daemon/daemon.test.ts",
  "packages/cli/src/completion/*.test.ts",
  "packages/daemon/src/{artifacts,environments,faults,git,shells,terminals,testing,workspaces}/**/*.test.ts",
  "packages/daemon/src/log/sqlite/*.test.ts",
  "packages/daemon/src/runner/process/*.test.ts",
];

/** What takes more than its share of a quarter of an hour on two processors. */
const long = ["tests/killed-workspaces.test.ts"];
const isLong = process.env["CORRAL_LONG"] === "1";
if (!isLong) console.warn(`SKIPPED: ${long.join(", ")}, which takes minutes. CORRAL_LONG=1 runs it, too.`);

// Workers, and the programs that tests start, load the same sources by the hundred.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/corral-tests");

/** How many files run at once, on two processors: stories and unit tests alike wait for other programs half of their time. */
const maxWorkers = 4;

/**
 * Deadlines are for what never comes: nobody knows how long a machine on which everything runs at once takes for the rest. Vitest's own for
 * polling is a second.
 */
const patience = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 50_000 } } };

const unit = {
  ...patience,
  maxWorkers,
  globalSetup: ["scripts/in-memory.ts"],
  env: { TMPDIR: inMemory },
};

export default defineConfig({
  test: {
    reporters: ["default"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Their processes go on with the next file: to load the sources anew took longer than most tests.
        test: {
          ...unit,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", ...ofSources],
          exclude: alone,
          isolate: false,
        },
      },
      { test: { ...unit, name: "unit-alone", include: alone } },
      {
        // Each story runs whole daemons and jails beside its worker, in which it changes nothing.
        test: {
          name: "stories",
          include: ["tests/**/*.test.ts"],
          exclude: isLong ? ofSources : [...ofSources, ...long],
          globalSetup: ["tests/build-once.ts"],
          ...patience,
          // Daemons, jails and browsers by the dozen.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          isolate: false,
          maxWorkers,
        },
      },
    ],
  },
});
