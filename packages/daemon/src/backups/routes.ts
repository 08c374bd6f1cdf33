import type { Handlers } from "../routing/index.ts";
import type { Backups } from "./backups.ts";

interface Needs {
  readonly backups: Backups;
}

export function backupRoutes({ backups }: Needs): Handlers<"daemon.backup"> {
  return { "daemon.backup": () => backups.make() };
}
