import { defineSlice } from "../assembly/index.ts";
import { usageProjections } from "./projection.ts";
import { usageRoutes } from "./routes.ts";
import { openUsage, type Usage } from "./usage.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly usage: Usage;
  }
}

export const usage = defineSlice({
  name: "usage",
  needs: ["log", "sessions"],
  projections: usageProjections,
  routes: [usageRoutes],
  open: ({ log, sessions }) =>
    openUsage({
      log,
      projects: async () => new Map((await sessions.list()).map(({ id, projectId }) => [id, projectId])),
    }),
});
