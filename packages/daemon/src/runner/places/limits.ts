import { availableParallelism, totalmem } from "node:os";
import type { PlaceLimit, SettingValues } from "@corral/protocol";

export type PlaceLimits = Readonly<Record<PlaceLimit, number>>;

/** How many may be at work at once by the settings, with what suits this machine where they leave that open. */
export function placeLimitsFrom(
  values: Pick<SettingValues, PlaceLimit>,
  machine = { processors: availableParallelism(), memoryBytes: totalmem() },
): PlaceLimits {
  const sessions = values["sessions.atOnce"] || suitable(machine);
  const environments = values["environments.atOnce"] || 2 * sessions;
  return {
    "sessions.atOnce": sessions,
    "sessions.atOncePerProject": values["sessions.atOncePerProject"] ?? sessions,
    "environments.atOnce": environments,
    "environments.atOncePerProject": values["environments.atOncePerProject"] ?? environments,
  };
}

/** Agents mostly wait for their models, so there may be many more of them than processors. */
function suitable({ processors, memoryBytes }: { readonly processors: number; readonly memoryBytes: number }): number {
  return Math.max(1, Math.min(12 * processors, Math.floor(memoryBytes / 2 ** 28)));
}
