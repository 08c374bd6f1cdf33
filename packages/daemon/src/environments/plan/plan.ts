import { type EnvironmentLimits, type EnvironmentState, type SettingValues, settings } from "@corral/protocol";
import { availableParallelism, totalmem } from "node:os";
import { workspaceInside } from "../keeper/index.ts";
import type { EnvironmentPlan } from "../port.ts";

const mebibyte = 2 ** 20;

/** What an environment may use by the settings, with what suits this machine where they leave that open. */
export function limitsFrom(values: Pick<SettingValues, LimitKey>): EnvironmentLimits {
  const most = values["workspace.maxMb"];
  return {
    pids: values["limits.pids"],
    memoryBytes: values["limits.memoryMb"] * mebibyte || Math.min(4096 * mebibyte, Math.floor(totalmem() / 2)),
    cpus: values["limits.cpus"] || Math.min(4, Math.max(1, availableParallelism() - 0.5)),
    diskBytes: values["limits.diskMb"] * mebibyte,
    outputBytes: values["limits.outputMb"] * mebibyte,
    ...(most === null ? {} : { workspaceBytes: most * mebibyte }),
  };
}

type LimitKey = Extract<keyof SettingValues, `limits.${string}`> | "workspace.maxMb";

/** What an environment may use when nobody said otherwise: plenty for builds and tests, too little to hurt the machine. */
export const defaultLimits: EnvironmentLimits = limitsFrom({
  "limits.pids": settings["limits.pids"].default,
  "limits.memoryMb": settings["limits.memoryMb"].default,
  "limits.cpus": settings["limits.cpus"].default,
  "limits.diskMb": settings["limits.diskMb"].default,
  "limits.outputMb": settings["limits.outputMb"].default,
  "workspace.maxMb": settings["workspace.maxMb"].default,
});

/** A plan in which everything that is not named is as closed as can be worked in. */
export function planOf(named: Pick<EnvironmentPlan, "id" | "workspace"> & Partial<EnvironmentPlan>): EnvironmentPlan {
  return {
    access: "write",
    readable: [],
    siblings: {},
    network: "off",
    limits: defaultLimits,
    variables: {},
    image: undefined,
    volumes: {},
    ...named,
  };
}

/** Where the workspace is, seen from inside. */
export function workspaceIn({ kind, workspace }: Pick<EnvironmentState, "kind" | "workspace">): string {
  return kind === "local" ? workspace : workspaceInside;
}
