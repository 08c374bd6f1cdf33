import type { CommandResult } from "@corral/protocol";
import { z } from "zod";
import { onlyReads } from "./reading.ts";
import type { Tool } from "./tool.ts";

const defaultTimeoutMs = 120_000;
const longestTimeoutMs = 3_600_000;

const parameters = z.object({
  command: z.string().min(1).max(100_000).describe("The command line for /bin/sh."),
  timeoutMs: z
    .int()
    .min(100)
    .max(longestTimeoutMs)
    .optional()
    .describe(`Time limit in milliseconds; ${defaultTimeoutMs} unless given.`),
});

export const shellTool: Tool<z.infer<typeof parameters>, CommandResult> = {
  name: "shell",
  description:
    "Runs a command in the session's persistent /bin/sh, in the workspace. The working directory, variables and " +
    "functions stay from call to call. Standard input is empty. Output is cut in the middle when it is long.",
  parameters,
  effect: "writes",
  onlyReads: ({ command }) => onlyReads(command),

  async run({ command, timeoutMs = defaultTimeoutMs }, { id, signal, surroundings, onOutput }) {
    const { shell } = await surroundings.environment();
    return shell.run({ id, text: command, timeoutMs, signal, onOutput });
  },

  async recover({ id, surroundings }) {
    const earlier = await surroundings.earlier();
    if (earlier.kind === "open") return { kind: "join" };
    if (earlier.kind === "none") return { kind: "run" };
    const found = await earlier.results.find(id);
    switch (found.kind) {
      case "absent":
        return { kind: "run" };
      case "done":
        return { kind: "done", result: found.result };
      case "begun":
        return { kind: "unknown", reason: "The environment ended while the command ran." };
    }
    return found satisfies never;
  },

  async forget({ id, surroundings }) {
    (await surroundings.environment()).shell.forget(id);
  },

  describe(result) {
    const notes = [
      result.timedOut ? "(stopped at the time limit)" : "",
      result.shellRespawned ? "(the shell ended and was started anew: working directory and variables are reset)" : "",
      result.exitCode === 0 ? "" : `(exit code ${result.exitCode})`,
    ];
    const stderr = result.stderr === "" ? "" : `stderr:\n${result.stderr}`;
    const text = [result.stdout, stderr, ...notes].filter((line) => line !== "").join("\n");
    return {
      outcome: result.exitCode === 0 && !result.timedOut ? "ok" : "error",
      text: text === "" ? "(no output)" : text,
    };
  },
};
