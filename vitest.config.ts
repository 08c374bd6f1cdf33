import { defineConfig } from "vitest/config";
import { inMemory } from "./scripts/in-memory.ts";

/** About the sources, not about what is shipped. */
const ofSources = ["tests/imports.test.ts", "tests/generated.test.ts"];

/** What takes more than its share of a quarter of an hour on two processors. */
const long = ["tests/killed-workspaces.test.ts"];
const isLong = process.env["CORRAL_LONG"] === "1";
if (!isLong) console.warn(`SKIPPED: ${long.join(", ")}, which takes minutes. CORRAL_LONG=1 runs it, too.`);

export default defineConfig({
  test: {
    reporters: ["default"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", ...ofSources],
          globalSetup: ["scripts/in-memory.ts"],
          env: { TMPDIR: inMemory },
          maxWorkers: 3,
          testTimeout: 15_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Each story runs whole daemons and jails beside its worker, so few run at once.
        test: {
          name: "stories",
          include: ["tests/**/*.test.ts"],
          exclude: isLong ? ofSources : [...ofSources, ...long],
          globalSetup: ["tests/build-once.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
