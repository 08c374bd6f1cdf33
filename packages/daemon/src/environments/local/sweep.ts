import type { Sweep } from "../port.ts";
import { sweepStrays } from "../ending/strays.ts";
import { removedPrefix } from "../ending/environment-folder.ts";
import { LocalFolder } from "./folder.ts";

export function sweepLocal(parent: string, sweep: Sweep): Promise<void> {
  return sweepStrays(parent, sweep, {
    folder: (id) => {
      const folder = new LocalFolder(parent, id);
      return { hasOpener: () => folder.hasOpener(), end: () => folder.endProcesses() };
    },
    isLeftover: (name) => name.startsWith(removedPrefix),
  });
}
