import { defectsOf, defineSlice } from "../assembly/index.ts";
import { type Egress, openEgress } from "./egress.ts";
import { egressProjections } from "./projection.ts";
import { networkRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly egress: Egress;
  }
}

export const egress = defineSlice({
  name: "egress",
  needs: ["machine", "home", "log", "drivers"],
  projections: egressProjections,
  routes: [networkRoutes],
  open: ({ machine, home, log, drivers }) =>
    openEgress({
      log,
      home: home.folder,
      hasOtherUsers: drivers.of("jail").newOwner !== undefined,
      onDefect: defectsOf(machine, "egress"),
    }),
  provides: (own) => own.provides,
  mend: (own) => own.begin(),
  close: (own) => own.close(),
});
