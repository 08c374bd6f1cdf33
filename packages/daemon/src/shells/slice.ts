import { defectsOf, defineSlice } from "../assembly/index.ts";
import { limitsFrom } from "../environments/index.ts";
import { usualContainerFrom } from "../workspaces/index.ts";
import { shellProjections } from "./projections.ts";
import { shellRoutes } from "./routes.ts";
import { openShells, type Shells } from "./shells.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly shells: Shells;
  }
}

export const shells = defineSlice({
  name: "shells",
  needs: ["machine", "home", "log", "config", "drivers", "scrollbacks", "artifacts", "secrets", "egress"],
  projections: shellProjections,
  routes: [shellRoutes],
  open: ({ machine, home, config, egress, ...parts }) =>
    openShells({
      ...parts,
      home: home.folder,
      waysOut: egress,
      limits: () => limitsFrom(config.values),
      usualContainer: () => usualContainerFrom(config.values),
      onDefect: defectsOf(machine, "shells"),
    }),
  begin: (own) => own.begin(),
  stop: (own) => own.stop(),
});
