import type { ShellCommand } from "../../keeper/index.ts";
import type { EnvironmentState } from "@corral/protocol";
import { join } from "node:path";
import type { InsidePaths } from "../../conformance.ts";
import { spoolInside, workspaceInside } from "../../keeper/index.ts";
import type { EnvironmentDriver } from "../../port.ts";
import { openJailDriver } from "../jail.ts";
import { jailOwner } from "../../walled/index.ts";

/** Shells that may be a system's /bin/sh; this module's address says by `?shell=` which one to use. */
export const shells: Readonly<Record<string, ShellCommand>> = {
  bash: ["/usr/bin/bash", "--posix"],
  busybox: ["/usr/bin/busybox", "sh"],
  dash: ["/usr/bin/dash"],
};

export function openDriver(home: string): EnvironmentDriver {
  return openDriverWith(shells[new URL(import.meta.url).searchParams.get("shell") ?? ""])(home);
}

export function openDriverWith(shell: ShellCommand | undefined): (home: string) => EnvironmentDriver {
  return (home) => openJailDriver({ home, ...(shell === undefined ? {} : { shell }) });
}

/** What the suite has to know of a jail. */
export const jailUnderTest = {
  owner: jailOwner(),
  paths: (home: string, { id }: EnvironmentState): InsidePaths => ({
    workspace: workspaceInside,
    spool: spoolInside,
    spoolOutside: join(home, "environments", id, "spool"),
  }),
  promises: { walledProcesses: "kept" },
} as const;
