import { type EnvironmentId, environmentId } from "@corral/protocol";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sweep } from "../port.ts";
import { removeFolder } from "../system/remove-folder.ts";

/** The folder of one environment, as far as a sweep is concerned. */
export interface StrayFolder {
  /** Whether a living process opened it, or is about to. */
  hasOpener(): boolean;
  /** Ends all that runs in it. Its folder is removed only when that succeeded. */
  end(): Promise<void>;
}

/**
 * Ends and removes environments that are not on record, in a folder that holds one folder for each. All of them are ended before the
 * first folder is removed, because ending is quick and removing may not be. The signal stops only the removing: however late a
 * stopping daemon on a busy machine gets here, nothing is left running.
 */
export async function sweepStrays(
  parent: string,
  sweep: Sweep,
  { folder, isLeftover, remove = removeFolder }: Strays,
): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const strays = names.flatMap((name) => {
    const id = environmentId.safeParse(name);
    if (!id.success || sweep.onRecord.has(id.data)) return [];
    const stray = folder(id.data);
    return stray.hasOpener() ? [] : [{ name, stray }];
  });
  const { onFailure } = sweep;
  const ended = await Promise.all(strays.map(({ name, stray }) => attempt(name, { onFailure }, () => stray.end())));
  const removable = strays.filter((_, index) => ended[index]).map(({ name }) => name);
  for (const name of [...removable, ...names.filter(isLeftover)])
    await attempt(name, sweep, () => remove(join(parent, name), sweep));
}

export interface Strays {
  readonly folder: (id: EnvironmentId) => StrayFolder;
  /** By its name: a folder that nobody comes back to. */
  readonly isLeftover: (name: string) => boolean;
  readonly remove?: typeof removeFolder;
}

/** Says whether it succeeded. */
async function attempt(
  name: string,
  { onFailure, signal }: Omit<Sweep, "onRecord">,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    signal?.throwIfAborted();
    await work();
    return true;
  } catch (error) {
    if (signal?.aborted !== true) onFailure(name, error);
    return false;
  }
}
