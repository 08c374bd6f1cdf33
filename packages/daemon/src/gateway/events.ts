import { eventPage, type EventPage, projectId, sessionId, streamFilter, wireEvent } from "@corral/protocol";
import { isGap, requireCursor } from "../log/index.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { RouteParts, Routes } from "./routes.ts";
import { knownSession, sessionParams } from "./sessions.ts";
import { type Subscription, subscriptionFor } from "./subscription.ts";
import { principalOf } from "./tokens.ts";

const cursor = z.coerce.number().pipe(z.int().nonnegative());

/** Of which events; shared by pages, server-sent events and the WebSocket. */
export const filterQuery = z.object({
  after: cursor.default(0).describe("the seq of the last event seen"),
  project: projectId.optional().describe("only of this project and its sessions"),
  types: z
    .string()
    .transform((list) => list.split(","))
    .pipe(streamFilter.shape.types.unwrap())
    .optional()
    .describe("only events of these types, separated by commas; `turn.*` is all that begin so"),
  deltas: z.enum(["0", "1"]).default("1").describe("0: no pieces of what is still growing"),
});

const eventQuery = filterQuery.extend({
  limit: z.coerce.number().pipe(z.int().min(1).max(1000)).default(500),
  follow: z.enum(["0", "1"]).default("0").describe("1: stay and get what comes, as server-sent events"),
});
const allQuery = eventQuery.extend({ session: sessionId.optional().describe("only of this session") });
type EventQuery = z.infer<typeof allQuery>;

const description =
  "Without `follow` a page: `next` is the cursor to ask with for what comes after, and a `next` equal to `after` is the " +
  "end for now. With follow=1 the answer is text/event-stream: `event` messages carry a log event and its seq as id, " +
  "`delta` messages (without id) a piece of something still growing, `gap` messages tell of events that are no longer " +
  "kept. Last-Event-ID wins over `after`. A cursor ahead of the log, which is one of another log, is refused.";

const response = {
  200: {
    description: "A page of events, or with follow=1 a stream of them",
    content: { "application/json": { schema: eventPage }, "text/event-stream": { schema: wireEvent } },
  },
};

export const eventRoutes: Routes = (app, parts) => {
  const tags = ["events"];

  app.get(
    "/api/events",
    { schema: { tags, summary: "What happened", description, querystring: allQuery, response } },
    (request, reply) => answer(parts, request, reply, request.query),
  );

  app.get(
    "/api/sessions/:id/events",
    {
      schema: {
        tags,
        summary: "What happened in a session",
        description,
        params: sessionParams,
        querystring: eventQuery,
        response,
      },
    },
    async (request, reply) => {
      const { id } = await knownSession(parts.sessions, request.params.id);
      return answer(parts, request, reply, { ...request.query, session: id });
    },
  );
};

async function answer(parts: RouteParts, request: FastifyRequest, reply: FastifyReply, query: EventQuery) {
  const { session, project, types, follow, limit } = query;
  const wish = {
    after: (follow === "1" ? lastEventId(request) : undefined) ?? query.after,
    deltas: query.deltas === "1",
    session,
    project,
    types,
  };
  const subscription = subscriptionFor(principalOf(request), wish, parts.sight);
  if (follow === "0") return pageOf(parts, subscription, limit);
  await requireCursor(parts.log, subscription.after);
  reply.hijack();
  parts.streams.open(reply.raw, subscription);
  return reply;
}

const scanned = 10_000;

/** Reads on until the page is full, the log ends, or much was read of which little is wanted. */
async function pageOf({ log }: RouteParts, wish: Subscription, limit: number): Promise<EventPage> {
  const stream = wish.session === undefined ? {} : { stream: wish.session };
  const events: EventPage["events"] = [];
  let next = wish.after;
  for (let seen = 0; events.length < limit && seen < scanned;) {
    const wanted = limit - events.length;
    const page = await log.read({ after: next, limit: wanted, ...stream });
    if (isGap(page)) return events.length > 0 ? { events, next } : { events, next: page.to, gap: page };
    events.push(...(wish.wants === undefined ? page : page.filter(wish.wants)));
    next = page.at(-1)?.seq ?? next;
    seen += page.length;
    // It is the end, or what was read is heavy enough.
    if (page.length < wanted) break;
  }
  return { events, next };
}

/** What a browser sends when it comes back by itself; newer than the address it was given. */
function lastEventId(request: FastifyRequest): number | undefined {
  const header = request.headers["last-event-id"];
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
