import { eventPage, type SessionId } from "@corral/protocol";
import { isGap } from "../log/index.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { RouteParts, Routes } from "./routes.ts";
import { knownSession, sessionParams } from "./sessions.ts";

const cursor = z.coerce.number().pipe(z.int().nonnegative());

const eventQuery = z.object({
  after: cursor.default(0).describe("the seq of the last event seen"),
  limit: z.coerce.number().pipe(z.int().min(1).max(1000)).default(500),
  follow: z.enum(["0", "1"]).default("0").describe("1: stay and get what comes, as server-sent events"),
});
type EventQuery = z.infer<typeof eventQuery>;

const description =
  "With follow=1 the answer is text/event-stream: `event` messages carry a log event and its seq as id, " +
  "`delta` messages (without id) a piece of something still growing. Last-Event-ID wins over `after`.";

export const eventRoutes: Routes = (app, parts) => {
  const tags = ["events"];
  const response = { 200: eventPage };

  app.get("/api/events", { schema: { tags, description, querystring: eventQuery, response } }, (request, reply) =>
    answer(parts, request, reply, request.query, undefined),
  );

  app.get(
    "/api/sessions/:id/events",
    { schema: { tags, description, params: sessionParams, querystring: eventQuery, response } },
    async (request, reply) => {
      const { id } = await knownSession(parts.sessions, request.params.id);
      return answer(parts, request, reply, request.query, id);
    },
  );
};

/** A session's events are the stream of its name. */
async function answer(
  { log, streams }: RouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { after, limit, follow }: EventQuery,
  session: SessionId | undefined,
) {
  if (follow === "1") {
    reply.hijack();
    streams.open(reply.raw, { after: lastEventId(request) ?? after, session, over: request.over });
    return reply;
  }
  const page = await log.read({ after, limit, ...(session === undefined ? {} : { stream: session }) });
  if (isGap(page)) return { events: [], next: page.to, gap: page };
  return { events: [...page], next: page.at(-1)?.seq ?? after };
}

/** What a browser sends when it comes back by itself; newer than the address it was given. */
function lastEventId(request: FastifyRequest): number | undefined {
  const header = request.headers["last-event-id"];
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
