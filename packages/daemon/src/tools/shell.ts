import { type CommandResult, heldBackWords, type LimitHit, refusalIn } from "@corral/protocol";
import { z } from "zod";
import { type CommandResults, followWhole, mostInResult, quoted, type Shell } from "../environments/index.ts";
import { onlyReads } from "../workspaces/index.ts";
import type { Beside, Surroundings, Tool, ToolContext } from "./tool.ts";

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
  touches: ({ command }) => ({ command }),
  onlyReads: ({ command }) => onlyReads(command),

  async run({ command, timeoutMs = defaultTimeoutMs }, { id, signal, surroundings, beside, onOutput, place }) {
    const shell = await shellFor(surroundings, beside);
    const whole = followWhole({ results: shell, id, place, above: mostInResult });
    const result = await shell.run({
      ...{ id, text: textFor(command, beside), timeoutMs, signal },
      onOutput(stream, text) {
        whole.more(stream);
        onOutput(stream, text);
      },
    });
    return { ...shown(result, beside), ...(await whole.rest(result)) };
  },

  async recover({ id, surroundings, beside, place }) {
    const earlier = await surroundings.earlier(beside?.shell);
    if (earlier.kind === "open") return { kind: "join" };
    if (earlier.kind === "none") return { kind: "run" };
    const found = await earlier.results.find(id);
    switch (found.kind) {
      case "absent":
        return { kind: "run" };
      case "done":
        return { kind: "done", result: await withWhole(earlier.results, id, place, shown(found.result, beside)) };
      case "begun":
        return { kind: "unknown", reason: "The environment ended while the command ran." };
    }
    return found satisfies never;
  },

  async forget({ id, surroundings, beside }) {
    (await shellFor(surroundings, beside)).forget(id);
  },

  describe(result) {
    const refusal = refusalIn(result);
    const heldBack = heldBackWords(result.heldBack);
    const limit = result.limit ?? (result.timedOut ? "time" : undefined);
    const notes = [
      limit === undefined ? "" : `(${limits[limit]})`,
      refusal === undefined ? "" : `(${refusal})`,
      heldBack === undefined ? "" : `(${heldBack})`,
      result.shellRespawned ? "(the shell ended and was started anew: working directory and variables are reset)" : "",
      result.exitCode === 0 ? "" : `(exit code ${result.exitCode})`,
      wholeNote("stdout", result),
      wholeNote("stderr", result),
    ];
    const stderr = result.stderr === "" ? "" : `stderr:\n${result.stderr}`;
    const text = [result.stdout, stderr, ...notes].filter((line) => line !== "").join("\n");
    return {
      outcome: result.exitCode === 0 && limit === undefined ? "ok" : "error",
      text: text === "" ? "(no output)" : text,
    };
  },
};

async function shellFor(surroundings: Surroundings, beside: Beside | undefined): Promise<Shell> {
  const environment = await surroundings.environment();
  return beside === undefined ? environment.shell : environment.openShell(beside.shell);
}

/** A further shell stays where it began, so that it is the same for the next call. */
function textFor(command: string, beside: Beside | undefined): string {
  return beside?.folder === undefined ? command : `(cd -- ${quoted(beside.folder)} || exit\n${command}\n)`;
}

/** That a further shell was started anew concerns nobody: the session's own has its folder and its variables still. */
function shown(result: CommandResult, beside: Beside | undefined): CommandResult {
  return beside === undefined ? result : { ...result, shellRespawned: false };
}

/** Of processes and memory some may have been refused, and the command gone on. */
const limits: Record<LimitHit, string> = {
  time: "stopped at the time limit",
  output: "stopped: more output than one command may write",
  disk: "it ran into the limit of the disk: remove what is not needed",
  memory: "it ran into the limit of memory: use less at a time",
  pids: "it ran into the limit of processes: start fewer at a time",
};

/** Its environment is gone, and what it wrote down is there. */
async function withWhole(
  results: CommandResults,
  id: string,
  place: ToolContext["place"],
  result: CommandResult,
): Promise<CommandResult> {
  return { ...result, ...(await followWhole({ results, id, place, above: mostInResult }).rest(result)) };
}

function wholeNote(stream: "stdout" | "stderr", { artifacts }: CommandResult): string {
  const kept = artifacts?.[stream];
  if (kept === undefined) return "";
  const { id, bytes, leftOut } = kept;
  const all =
    leftOut === undefined ? "all" : `the first ${bytes} bytes (${leftOut.bytes} are over: ${leftOut.because})`;
  return `(${all} of ${stream} is kept for people as the artifact ${id})`;
}
