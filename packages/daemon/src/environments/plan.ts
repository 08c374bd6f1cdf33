import type { EnvironmentLimits, EnvironmentState } from "@corral/protocol";
import { workspaceInside } from "./keeper.ts";
import type { EnvironmentPlan } from "./port.ts";

const mebibyte = 2 ** 20;

/** What an environment may use when nobody said otherwise: plenty for builds and tests, too little to hurt the machine. */
export const defaultLimits: EnvironmentLimits = {
  pids: 1024,
  memoryBytes: 4096 * mebibyte,
  cpus: 4,
  diskBytes: 10_240 * mebibyte,
  outputBytes: 256 * mebibyte,
};

/** A plan in which everything that is not named is as closed as can be worked in. */
export function planOf(named: Pick<EnvironmentPlan, "id" | "workspace"> & Partial<EnvironmentPlan>): EnvironmentPlan {
  return {
    access: "write",
    readable: [],
    siblings: {},
    network: "off",
    limits: defaultLimits,
    variables: {},
    ...named,
  };
}

/** Where the workspace is, seen from inside. */
export function workspaceIn({ kind, workspace }: Pick<EnvironmentState, "kind" | "workspace">): string {
  return kind === "jail" ? workspaceInside : workspace;
}
