import { existsSync } from "node:fs";
import type { KnipConfig } from "knip";

/** A package is judged once its programs are there; before that everything it brings would look unused. */
const entries: Readonly<Record<string, readonly string[]>> = {
  "packages/protocol": [],
  "packages/client": ["src/index.ts"],
  "packages/cli": ["src/bin.ts", "src/main.ts"],
  "packages/daemon": [
    "src/main.ts",
    "src/runner-main.ts",
    "src/database-main.ts",
    "src/index.ts",
    "src/testing/index.ts",
  ],
  "packages/dashboard": ["src/main.tsx"],
};
const isWritten = (folder: string): boolean =>
  (entries[folder] ?? []).every((entry) => existsSync(`${folder}/${entry}`));

const config: KnipConfig = {
  workspaces: {
    ".": {
      // The floors are programs that the benchmarks start by their name.
      entry: [
        "scripts/*.ts",
        "examples/*.ts",
        "bench/*.ts",
        "bench/floors/*.ts",
        "tests/**/*.test.ts",
        "tests/build-once.ts",
      ],
      project: ["scripts/**/*.ts", "examples/**/*.ts", "bench/**/*.ts", "tests/**/*.ts", "*.ts"],
      // The runtime itself, one for each platform; the packages that stories use by their workspace links; the
      // type-aware half of oxlint; the vendor's SDK that the scripted model is held to in its package's tests; the
      // dashboard's library, which tsconfig.json names for everybody.
      ignoreDependencies: [/^node-/, /^@corral\//, "oxlint-tsgolint", "@anthropic-ai/sdk", "solid-js"],
    },
    ...Object.fromEntries(
      Object.entries(entries).map(([folder, files]) => [
        folder,
        // Ports are promises to drivers to come, wider than today's use.
        {
          entry: [...files, "src/*/port.ts", "src/**/conformance.ts", "src/**/*.test.ts"],
          project: ["src/**/*.{ts,tsx}"],
        },
      ]),
    ),
  },
  ignoreWorkspaces: Object.keys(entries).filter((folder) => !isWritten(folder)),
  // Programs of the system are no dependencies; set-up looks after them.
  exclude: ["binaries"],
  ignoreExportsUsedInFile: { interface: true, type: true },
};

export default config;
