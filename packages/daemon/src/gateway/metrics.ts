import { z } from "zod";
import type { Routes } from "./routes.ts";

export const metricRoutes: Routes = (app, { meter }) => {
  app.get(
    "/metrics",
    {
      schema: {
        tags: ["daemon"],
        summary: "Figures in the text format of Prometheus",
        response: { 200: { description: "Figures", content: { "text/plain": { schema: z.string() } } } },
      },
    },
    async (_request, reply) =>
      reply
        .header("content-type", meter.contentType)
        .serializer((text) => String(text))
        .send(await meter.text()),
  );
};
