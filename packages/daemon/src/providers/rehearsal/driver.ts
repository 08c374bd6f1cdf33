import { join } from "node:path";
import type { ProviderDriver } from "../port.ts";
import { openRehearsal } from "./rehearsal.ts";

/** Needs no key and no network: what models say is in scripts. */
export function rehearsalDriver({ home }: { readonly home: string }): ProviderDriver {
  return {
    name: "rehearsal",
    keyVariable: undefined,
    open(variables) {
      const folder = variables["CORRAL_REHEARSALS"]?.trim() ?? "";
      return openRehearsal({
        scripts: folder === "" ? join(home, "rehearsals") : folder,
        releases: join(home, "rehearsals", "released"),
      });
    },
  };
}
