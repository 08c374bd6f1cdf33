import type { ShellCommand } from "../../keeper/index.ts";
import type { EnvironmentDriver } from "../../port.ts";
import { openLocalDriver } from "../local.ts";

/** Shells that may be a system's /bin/sh; this module's address says by `?shell=` which one to use. */
const shells: Readonly<Record<string, ShellCommand>> = {
  bash: ["/usr/bin/bash", "--posix"],
  busybox: ["/usr/bin/busybox", "sh"],
};

export function openDriver(home: string): EnvironmentDriver {
  return openDriverWith(new URL(import.meta.url).searchParams.get("shell") ?? "")(home);
}

export function openDriverWith(name: string): (home: string) => EnvironmentDriver {
  const shell = shells[name];
  const variables = { PATH: process.env["PATH"] };
  return (home) =>
    openLocalDriver({ home, variables: { ...variables, HOME: home }, ...(shell === undefined ? {} : { shell }) });
}
