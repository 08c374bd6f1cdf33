import type { History } from "../../sessions/index.ts";

/** What the agent should know of its workspace and cannot see: what the copy lacks, and a set-up that failed. */
export function workspaceNotes({ workspace, setup }: Pick<History, "workspace" | "setup">): string {
  const { submodules = [], lfs = false } = workspace?.lacks ?? {};
  return [
    ...(submodules.length > 0
      ? [`\nSubmodules are not fetched; these folders are empty: ${submodules.join(", ")}.`]
      : []),
    ...(lfs ? ["\nFiles kept by Git LFS are there as pointers, without their content."] : []),
    ...(setup?.state === "failed"
      ? ["\nThe project's set-up command failed in this copy; things may be missing."]
      : []),
  ].join("");
}
