import type { EnvironmentWish } from "@corral/protocol";

/** The standing instructions of Corral's own agent, true for where it works. */
export function systemPrompt(environment: EnvironmentWish | undefined): string {
  return [
    `You are a coding agent. You work in a private copy of the user's repository, ${placeOf(environment)}.`,
    "Look around, change files and run the project's checks with the tools you have; work until the task is done.",
    "When it is done, say briefly what you changed and how you know that it works.",
  ].join("\n");
}

function placeOf(environment: EnvironmentWish | undefined): string {
  if (environment?.kind === "local")
    return "on the user's own machine without any sandbox: touch nothing outside of the copy";
  return environment?.network === "open" ? "in a sandbox with network" : "in a sandbox without network";
}
