import { environmentId } from "@corral/protocol";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sweep } from "../port.ts";
import { removeFolder } from "../remove-folder.ts";
import { removedPrefix, WalledFolder } from "../walled/index.ts";

/**
 * Ends and removes what is left of jails not on record. All processes are ended before the first folder is removed:
 * that is quick, and a removal may not be.
 */
export async function sweepJails(environments: string, sweep: Sweep, remove = removeFolder): Promise<void> {
  const names = await readdir(environments).catch(() => []);
  const strays = names.filter((name) => isStray(environments, name, sweep));
  const ended = await Promise.all(
    strays.map((name) => attempt(name, sweep, () => new WalledFolder(join(environments, name)).endProcesses())),
  );
  const left = names.filter((name) => leftover.test(name));
  for (const name of [...strays.filter((_, index) => ended[index]), ...left]) {
    await attempt(name, sweep, () => remove(join(environments, name), sweep));
  }
}

/** Folders that nobody comes back to. */
const leftover = new RegExp(`^(\\.probe-|\\.making-|\\${removedPrefix})`);

function isStray(environments: string, name: string, { onRecord }: Sweep): boolean {
  const id = environmentId.safeParse(name);
  return id.success && !onRecord.has(id.data) && !new WalledFolder(join(environments, name)).hasOpener();
}

/** Says whether it succeeded. */
async function attempt(name: string, { onFailure, signal }: Sweep, work: () => Promise<void>): Promise<boolean> {
  try {
    signal?.throwIfAborted();
    await work();
    return true;
  } catch (error) {
    if (signal?.aborted !== true) onFailure(name, error);
    return false;
  }
}
