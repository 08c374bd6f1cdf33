import { defineConfig } from "vitest/config";
import { inMemory } from "./scripts/in-memory.ts";

/** About the sources, not about what is shipped. */
const ofSources = ["tests/imports.test.ts", "tests/generated.test.ts"];

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
          maxWorkers: 2,
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
          exclude: ofSources,
          globalSetup: ["tests/build-once.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
