import { CorralError, type EventPage, type ReadEvents } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isGap, type Log, requireCursor } from "../../log/index.ts";
import { type FindsSessions, type Handlers, knownSession, principalOf, type Sight } from "../../routing/index.ts";
import type { Sockets } from "./socket.ts";
import type { Streams } from "./sse.ts";
import { type Subscription, subscriptionFor } from "./subscription.ts";

interface Needs {
  readonly log: Pick<Log, "read" | "head">;
  readonly sessions: FindsSessions;
  readonly sight: Sight;
  readonly streams: Streams;
  readonly sockets: Sockets;
}

export function eventRoutes(needs: Needs): Handlers<RoutesOf<"events">> {
  return {
    events: (request, reply) => answer(needs, request, reply, request.query),

    async "sessions.events"(request, reply) {
      const { id } = request.params;
      await knownSession(needs.sessions, id);
      return answer(needs, request, reply, { ...request.query, session: id });
    },

    stream: {
      open(socket, request) {
        const { deltas, ...filter } = request.query;
        needs.sockets.open(socket, principalOf(request), { ...filter, deltas: deltas === "1" });
      },
      plain() {
        throw new CorralError("stream.upgrade-needed", "This is a WebSocket", {
          hint: "GET /api/events?follow=1 carries the same without one",
        });
      },
    },
  };
}

async function answer(
  { log, sight, streams }: Needs,
  request: Pick<FastifyRequest, "principal" | "headers">,
  reply: FastifyReply,
  query: ReadEvents,
): Promise<EventPage | FastifyReply> {
  const { session, project, types, follow, limit } = query;
  const wish = {
    after: (follow === "1" ? lastEventId(request) : undefined) ?? query.after,
    deltas: query.deltas === "1",
    session,
    project,
    types,
  };
  const subscription = subscriptionFor(principalOf(request), wish, sight);
  if (follow === "0") return pageOf(log, subscription, limit);
  await requireCursor(log, subscription.after);
  reply.hijack();
  streams.open(reply.raw, subscription);
  return reply;
}

const scanned = 10_000;

/** Reads on until the page is full, the log ends, or much was read of which little is wanted. */
async function pageOf(log: Needs["log"], wish: Subscription, limit: number): Promise<EventPage> {
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
function lastEventId(request: Pick<FastifyRequest, "headers">): number | undefined {
  const header = request.headers["last-event-id"];
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
