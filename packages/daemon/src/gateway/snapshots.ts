import {
  restoreAnswer,
  restoreSnapshot,
  snapshotDiff,
  snapshotId,
  snapshotList,
  type SnapshotView,
  snapshotView,
  takeSnapshotAnswer,
} from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isBounded, type Principal } from "../tokens/index.ts";
import { missing } from "./bounds.ts";
import type { RouteParts, Routes } from "./routes.ts";
import { sessionParams } from "./sessions.ts";
import { knownShell, seenShell, shellParams } from "./shells.ts";
import { principalOf } from "./tokens.ts";

const snapshotParams = z.object({ id: snapshotId });
const diffQuery = z.object({
  to: snapshotId.optional().describe("another one of the same session or shell; without: now"),
});

export const snapshotRoutes: Routes = (app, parts) => {
  const { snapshots } = parts;
  const tags = ["snapshots"];

  app.get(
    "/api/sessions/:id/snapshots",
    {
      schema: {
        tags,
        description: "What the session's workspace held, moment by moment, oldest first.",
        params: sessionParams,
        response: { 200: snapshotList },
      },
    },
    async (request) => ({ snapshots: [...(await snapshots.list(request.params.id))] }),
  );

  app.post(
    "/api/sessions/:id/snapshots",
    {
      schema: {
        tags,
        description: "Keeps what the workspace holds now.",
        params: sessionParams,
        body: z.object({}),
        response: { 200: takeSnapshotAnswer },
      },
    },
    (request) => snapshots.take(request.params.id, request.by),
  );

  app.get(
    "/api/shells/:id/snapshots",
    {
      schema: {
        tags,
        description: "What the files of a person's shell in a copy were, moment by moment, oldest first.",
        params: shellParams,
        response: { 200: snapshotList },
      },
    },
    async (request) => ({ snapshots: [...(await snapshots.list((await knownShell(parts, request)).id))] }),
  );

  app.post(
    "/api/shells/:id/snapshots",
    {
      schema: {
        tags,
        description: "Keeps what the files of the shell are now.",
        params: shellParams,
        body: z.object({}),
        response: { 200: takeSnapshotAnswer },
      },
    },
    async (request) => snapshots.take((await knownShell(parts, request)).id, request.by),
  );

  app.get(
    "/api/snapshots/:id",
    { schema: { tags, params: snapshotParams, response: { 200: snapshotView } } },
    (request) => knownSnapshot(parts, request),
  );

  app.get(
    "/api/snapshots/:id/diff",
    {
      schema: {
        tags,
        description: "What changed from this snapshot to another one, or to the files as they are now.",
        params: snapshotParams,
        querystring: diffQuery,
        response: { 200: snapshotDiff },
      },
    },
    async (request) => {
      const { id } = await knownSnapshot(parts, request);
      return snapshots.diff(id, request.query.to);
    },
  );

  app.post(
    "/api/snapshots/:id/restore",
    {
      schema: {
        tags,
        description:
          "Makes the workspace's files, or some of them, what they were then. What they are before that is kept as a " +
          "snapshot, so that it can be undone.",
        params: snapshotParams,
        body: restoreSnapshot,
        response: { 200: restoreAnswer },
      },
    },
    async (request) => {
      const { id } = await knownSnapshot(parts, request);
      return snapshots.restore(id, request.body, request.by);
    },
  );
};

/** The same words for one that is not there and for one out of bounds. */
async function knownSnapshot(parts: RouteParts, request: FastifyRequest<{ Params: z.infer<typeof snapshotParams> }>) {
  const { id } = request.params;
  const who = principalOf(request);
  const found = await parts.snapshots.get(id);
  if (isBounded(who) && !(await seesFilesOf(parts, who, found))) throw missing("snapshot", id);
  return found;
}

async function seesFilesOf(parts: RouteParts, who: Principal, { session, shell }: SnapshotView): Promise<boolean> {
  if (shell !== undefined) return (await seenShell(parts, who, shell)) !== undefined;
  return session !== undefined && parts.sight.session(who, session);
}
