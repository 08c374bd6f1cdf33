import type { RouteTable } from "./route.ts";

export const events = {
  events: {
    route: "GET /api/events",
    about:
      "Reads a page of what happened, of which `next` is the cursor to go on with, and is `after` again at the end for now; a cursor ahead of the log, " +
      "which is one of another log, is refused.",
    scope: "read",
    reach: "route",
    query: "readEvents",
    answer: "eventPage",
    followed: "wireEvent",
  },
  "sessions.events": {
    route: "GET /api/sessions/:id/events",
    about: "Reads a page of what happened in a session; its cursor is as for all events.",
    scope: "read",
    reach: "session",
    params: { id: "sessionId" },
    query: "readSessionEvents",
    answer: "eventPage",
    followed: "wireEvent",
  },
  stream: {
    route: "GET /api/stream",
    about: "Carries events and deltas over a WebSocket.",
    scope: "read",
    reach: "route",
    query: "openStream",
    as: "socket",
    answer: "streamMessage",
  },
} as const satisfies RouteTable;
