import { modelList, usageBy, usageView } from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

export const modelRoutes: Routes = (app, { models, usage }) => {
  app.get(
    "/api/models",
    {
      schema: {
        tags: ["models"],
        summary: "Lists models with what is known of them; providers that list theirs are asked",
        response: { 200: modelList },
      },
    },
    async () => {
      await models.look();
      return models.list();
    },
  );

  app.get(
    "/api/usage",
    {
      schema: {
        tags: ["models"],
        summary: "Sums up what models were asked and what it cost",
        querystring: z.object({ by: usageBy.default("model") }),
        response: { 200: usageView },
      },
    },
    (request) => usage.view(request.query.by),
  );
};
