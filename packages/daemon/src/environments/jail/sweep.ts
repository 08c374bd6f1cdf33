import { join } from "node:path";
import type { Sweep } from "../port.ts";
import type { removeFolder } from "../system/remove-folder.ts";
import { sweepStrays } from "../ending/strays.ts";
import { removedPrefix } from "../ending/environment-folder.ts";
import { WalledFolder } from "../walled/index.ts";

export function sweepJails(environments: string, sweep: Sweep, remove?: typeof removeFolder): Promise<void> {
  return sweepStrays(environments, sweep, {
    folder: (id) => {
      const folder = new WalledFolder(join(environments, id));
      return { hasOpener: () => folder.hasOpener(), end: () => folder.endProcesses() };
    },
    isLeftover: (name) => leftover.test(name),
    ...(remove === undefined ? {} : { remove }),
  });
}

/** Folders that nobody comes back to. */
const leftover = new RegExp(`^(\\.probe-|\\.making-|\\${removedPrefix})`);
