import { environmentId } from "@corral/protocol";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sweep } from "../port.ts";
import { removeFolder } from "../remove-folder.ts";
import { LocalFolder, removedPrefix } from "./folder.ts";

/** Ends and removes what is left of environments not on record; all are ended before the first folder is removed. */
export async function sweepLocal(parent: string, sweep: Sweep): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const strays = names.flatMap((name) => {
    const id = environmentId.safeParse(name);
    if (!id.success || sweep.onRecord.has(id.data)) return [];
    const folder = new LocalFolder(parent, id.data);
    return folder.hasOpener() ? [] : [folder];
  });
  const ended = await Promise.all(strays.map((folder) => attempt(folder.id, sweep, () => folder.endProcesses())));
  const removable = [
    ...strays.filter((_, index) => ended[index]).map(({ id }) => id),
    ...names.filter((name) => name.startsWith(removedPrefix)),
  ];
  for (const name of removable) await attempt(name, sweep, () => removeFolder(join(parent, name), sweep));
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
