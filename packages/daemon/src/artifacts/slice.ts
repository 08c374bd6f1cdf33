import { defectsOf, defineSlice } from "../assembly/index.ts";
import { openArtifacts } from "./artifacts.ts";
import { keepForRuns } from "./keeping.ts";
import type { Artifacts } from "./port.ts";
import { artifactProjections } from "./projection.ts";
import { artifactRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly artifacts: Artifacts;
  }
}

export const artifacts = defineSlice({
  name: "artifacts",
  needs: ["machine", "home", "log", "config", "secrets", "openStore"],
  projections: artifactProjections,
  routes: [artifactRoutes],
  open: async ({ machine, home, log, config, openStore }) =>
    openArtifacts({
      log,
      store: await openStore("artifacts"),
      home: home.folder,
      terms: () => ({
        maxBytes: config.values["artifacts.maxBytes"],
        sessionMaxBytes: config.values["artifacts.sessionMaxBytes"],
        days: config.values["artifacts.days"],
      }),
      onDefect: defectsOf(machine, "artifacts"),
    }),
  provides: (own, { machine, secrets }) => keepForRuns(own, { secrets, onDefect: defectsOf(machine, "artifacts") }),
  mend: (own) => own.mend(),
  cleanUp: (own) => own.cleanUp(),
  settle: (own) => own.close(),
});
