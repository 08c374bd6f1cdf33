import { backupView } from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

export const backupRoutes: Routes = (app, { backups }) => {
  const description =
    "Writes a consistent copy of the log into the folder `backups` of the daemon's home, for its owner alone, while " +
    "everything goes on, and tells where it is.";
  app.post(
    "/api/backups",
    {
      schema: {
        tags: ["daemon"],
        summary: "Make a backup",
        description,
        body: z.object({}),
        response: { 201: backupView },
      },
    },
    async (_request, reply) => reply.code(201).send(await backups.make()),
  );
};
