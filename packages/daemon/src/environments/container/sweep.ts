import { join } from "node:path";
import type { Sweep } from "../port.ts";
import { sweepStrays } from "../ending/strays.ts";
import { removedPrefix } from "../ending/environment-folder.ts";
import { WalledFolder } from "../walled/index.ts";
import { removeRecorded } from "./record.ts";

/** A folder stays until the engine has removed its container. */
export function sweepContainers(parent: string, sweep: Sweep): Promise<void> {
  return sweepStrays(parent, sweep, {
    folder: (id) => {
      const folder = new WalledFolder(join(parent, id));
      return { hasOpener: () => folder.hasOpener(), end: () => endContainer(folder) };
    },
    isLeftover: (name) => name.startsWith(removedPrefix),
  });
}

/** Its processes first: for that no engine is needed. */
export async function endContainer(folder: WalledFolder): Promise<void> {
  await folder.endProcesses();
  await removeRecorded(folder.path);
  // One that was not on file yet has ended only now.
  folder.clearWorkspace();
}
