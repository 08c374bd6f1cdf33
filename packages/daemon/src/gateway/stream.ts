import { CorralError, sessionId, streamMessage } from "@corral/protocol";
import { filterQuery } from "./events.ts";
import type { Routes } from "./routes.ts";
import { principalOf } from "./tokens.ts";

const streamQuery = filterQuery.extend({ session: sessionId.optional().describe("only of this session") });

const description =
  "A WebSocket that carries events and deltas, one JSON message a frame. The query is the first subscription; " +
  '`{"kind":"subscribe","after":SEQ,…}` takes its place, `{"kind":"ping"}` is answered by a pong. Browsers are let in ' +
  "by their cookie, on pages of the daemon itself; others by the Authorization header. A token in the address is refused.";

export const streamRoutes: Routes = (app, { sockets }) => {
  app.route({
    method: "GET",
    url: "/api/stream",
    schema: {
      tags: ["events"],
      summary: "What happens, over a WebSocket",
      description,
      querystring: streamQuery,
      response: { 101: streamMessage.describe("Messages of the daemon") },
    },
    handler() {
      throw new CorralError("stream.upgrade-needed", "This is a WebSocket", {
        hint: "GET /api/events?follow=1 carries the same without one",
      });
    },
    wsHandler(socket, request) {
      const { deltas, ...filter } = request.query;
      sockets.open(socket, principalOf(request), { ...filter, deltas: deltas === "1" });
    },
  });
};
