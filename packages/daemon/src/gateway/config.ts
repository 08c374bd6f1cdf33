import { configView, projectId, setConfig, upgradeAnswer, upgradeConfig } from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

export const configRoutes: Routes = (app, { config }) => {
  const tags = ["config"];

  app.get(
    "/api/config",
    { schema: { tags, querystring: z.object({ project: projectId.optional() }), response: { 200: configView } } },
    (request) => config.view(request.query.project),
  );

  app.put(
    "/api/config",
    { config: { takesSecrets: true }, schema: { tags, body: setConfig, response: { 200: configView } } },
    (request) => config.set(request.body, request.by),
  );

  app.post(
    "/api/config/upgrade",
    { schema: { tags, body: upgradeConfig, response: { 200: upgradeAnswer } } },
    (request) => config.upgrade(request.body.project, request.by),
  );
};
