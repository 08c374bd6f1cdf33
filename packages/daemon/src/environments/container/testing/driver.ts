import type { EnvironmentState } from "@corral/protocol";
import { join } from "node:path";
import type { InsidePaths } from "../../conformance.ts";
import { spoolInside, workspaceInside } from "../../keeper/index.ts";
import type { EnvironmentDriver } from "../../port.ts";
import { jailOwner } from "../../walled/index.ts";
import { openContainerDriver } from "../container.ts";
import { engineFinder } from "../find-engine.ts";

/** This module's address says by `?socket=` where the engine is. */
export function openDriver(home: string): EnvironmentDriver {
  return openDriverAt(new URL(import.meta.url).searchParams.get("socket") ?? "")(home);
}

export function openDriverAt(socket: string): (home: string) => EnvironmentDriver {
  const findEngine = engineFinder({ DOCKER_HOST: `unix://${socket}` });
  return (home) => openContainerDriver({ home, findEngine });
}

/** What the suite has to know of a container. */
export const containerUnderTest = {
  owner: jailOwner(),
  paths: (home: string, { id }: EnvironmentState): InsidePaths => ({
    workspace: workspaceInside,
    spool: spoolInside,
    spoolOutside: join(home, "environments", "container", id, "spool"),
  }),
  promises: { walledProcesses: "kept" },
} as const;
