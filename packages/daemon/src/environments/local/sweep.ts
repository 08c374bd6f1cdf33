import type { Sweep } from "../port.ts";
import { sweepStrays } from "../strays.ts";
import { removedPrefix } from "../environment-folder.ts";
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
