import { defineSlice } from "../assembly/index.ts";
import { inputRoutes } from "./input-routes.ts";
import { sessionProjections } from "./projections.ts";
import { sessionRoutes } from "./routes.ts";
import { openSessions, type Sessions } from "./sessions.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly sessions: Sessions;
  }
}

export const sessions = defineSlice({
  name: "sessions",
  needs: ["log", "config", "sites", "credentials", "models"],
  projections: sessionProjections,
  routes: [sessionRoutes, inputRoutes],
  open: ({ log, config, sites, credentials, models }) =>
    openSessions(log, {
      defaults: (project) => config.valuesFor(project),
      environment: (asked, workspace) => sites.wishFor(asked, workspace),
      mustReach: (model) => credentials.mustReach(model),
      mustThink: (model) => models.mustThink(model),
    }),
});
