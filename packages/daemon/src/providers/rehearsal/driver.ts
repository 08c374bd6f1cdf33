import { join } from "node:path";
import type { ProviderDriver } from "../port.ts";
import { openRehearsal } from "./rehearsal.ts";

/** Needs no key and no network: what models say is in scripts. `scripts`: their folder, where it is not the home's own. */
export function rehearsalDriver({ home, scripts }: { readonly home: string; readonly scripts?: string | undefined }) {
  const folder = scripts?.trim() ?? "";
  return {
    name: "rehearsal",
    open: () =>
      Promise.resolve(
        openRehearsal({
          scripts: folder === "" ? join(home, "rehearsals") : folder,
          releases: join(home, "rehearsals", "released"),
        }),
      ),
  } satisfies ProviderDriver;
}
