import { daemonStatus, doctorReport, health, stopAnswer, stopDaemon } from "@corral/protocol";
import type { Routes } from "./routes.ts";

export const daemonRoutes: Routes = (app, { version, onStop, status, doctor }) => {
  app.get("/healthz", { schema: { response: { 200: health } } }, () => ({
    ok: true as const,
    version,
  }));

  app.get("/api/status", { schema: { tags: ["daemon"], response: { 200: daemonStatus } } }, () => status());

  app.get("/api/doctor", { schema: { tags: ["daemon"], response: { 200: doctorReport } } }, () => doctor());

  app.post(
    "/api/daemon/stop",
    { schema: { tags: ["daemon"], body: stopDaemon, response: { 202: stopAnswer } } },
    async (request, reply) => {
      // Only once the answer is out: stopping closes this very connection.
      reply.raw.once("close", () => onStop(request.body.now));
      return reply.code(202).send({ kind: "stopping" });
    },
  );

  app.get("/api/openapi.json", { schema: { hide: true } }, () => app.swagger());
};
