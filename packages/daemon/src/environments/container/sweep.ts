import { environmentId } from "@corral/protocol";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sweep } from "../port.ts";
import { removeFolder } from "../remove-folder.ts";
import { removedPrefix, WalledFolder } from "../walled/index.ts";
import { removeRecorded } from "./record.ts";

/** Ends and removes what is left of containers not on record. A folder stays until the engine has removed its container. */
export async function sweepContainers(parent: string, sweep: Sweep): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const strays = names.filter((name) => isStray(parent, name, sweep));
  const ended = await Promise.all(
    strays.map((name) => attempt(name, sweep, () => endContainer(new WalledFolder(join(parent, name))))),
  );
  const left = names.filter((name) => name.startsWith(removedPrefix));
  for (const name of [...strays.filter((_, index) => ended[index]), ...left])
    await attempt(name, sweep, () => removeFolder(join(parent, name), sweep));
}

/** Its processes first: for that no engine is needed. */
export async function endContainer(folder: WalledFolder): Promise<void> {
  await folder.endProcesses();
  await removeRecorded(folder.path);
  // One that was not on file yet has ended only now.
  folder.clearWorkspace();
}

function isStray(parent: string, name: string, { onRecord }: Sweep): boolean {
  const id = environmentId.safeParse(name);
  return id.success && !onRecord.has(id.data) && !new WalledFolder(join(parent, name)).hasOpener();
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
