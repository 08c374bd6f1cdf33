import { join, resolve } from "node:path";
import { driversOf } from "./environments/index.ts";
import { engineFinder, openContainerDriver } from "./environments/container/index.ts";
import { openJailDriver } from "./environments/jail/index.ts";
import { openLocalDriver } from "./environments/local/index.ts";
import { homeFolder } from "./home/index.ts";
import { findOrOpenShell, type OpenShell, type ShellOptions } from "./shells/index.ts";

export type { OpenShell, RunOptions, ShellOptions } from "./shells/index.ts";

/**
 * Opens a persistent shell in a jail (or a container, or without walls, in `local`), for a program of its own: no daemon is needed. With
 * the same session it is the same shell, also from another process. State is in `folder`, by default below `CORRAL_HOME`;
 * a shell that nobody holds ends itself after ten idle minutes.
 *
 * Throws `jail.unavailable` with the fix where no jail can be had: there is never less than was asked for.
 */
export async function openShell(options: ShellOptions & { readonly folder?: string } = {}): Promise<OpenShell> {
  const { folder: given = join(homeFolder(process.env), "shells"), ...wish } = options;
  // Keepers are in another folder than the program.
  const folder = resolve(given);
  const drivers = driversOf(
    openJailDriver({ home: folder }),
    openContainerDriver({ home: folder, findEngine: engineFinder(process.env) }),
    openLocalDriver({ home: folder, variables: process.env }),
  );
  return findOrOpenShell(drivers, folder, wish);
}
