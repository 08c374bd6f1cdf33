import * as z from "zod";
import { flag } from "./query.ts";
import { projectId, sessionId } from "./id.ts";
import { delta } from "./live.ts";
import { problem } from "./problem.ts";
import { wireEvent } from "./event.ts";

/** What of the log a stream carries. Everything is given for nothing asked. */
export const streamFilter = z.object({
  session: sessionId.optional(),
  project: projectId.optional(),
  /** Types of events, or the part before the dot followed by `.*`. */
  types: z.array(eventPattern()).max(100).optional(),
});
export type StreamFilter = z.infer<typeof streamFilter>;

function eventPattern() {
  return z.string().regex(/^[a-z][a-z-]*(\.(\*|[a-z][a-z-]*))?$/, "expected an event type, or a prefix like turn.*");
}

/** What a client says over a WebSocket. A subscription takes the place of the one before. */
export const streamRequest = z.discriminatedUnion("kind", [
  streamFilter.extend({
    kind: z.literal("subscribe"),
    /** The seq of the last event seen. */
    after: z.int().nonnegative().default(0),
    deltas: z.boolean().default(true),
  }),
  z.object({ kind: z.literal("ping") }),
]);
export type StreamRequest = z.infer<typeof streamRequest>;

/** What the daemon says over a WebSocket, one message a frame. */
export const streamMessage = z
  .discriminatedUnion("kind", [
    /** What follows is of this subscription. */
    z.object({ kind: z.literal("subscribed"), after: z.int() }),
    z.object({ kind: z.literal("event"), event: wireEvent }),
    z.object({ kind: z.literal("delta"), delta }),
    /** Events from `from` to `to` are no longer kept; the stream goes on behind them. */
    z.object({ kind: z.literal("gap"), from: z.int(), to: z.int() }),
    /** Nothing happened, and the connection lives. */
    z.object({ kind: z.literal("heartbeat") }),
    z.object({ kind: z.literal("pong") }),
    z.object({ kind: z.literal("problem"), problem }),
  ])
  .describe(
    'Messages of the daemon, one in a frame. The query is the first subscription; `{"kind":"subscribe","after":SEQ,…}` takes its place, `{"kind":"ping"}` is ' +
      "answered by a pong. Browsers are let in by their cookie, on pages of the daemon itself; others by the Authorization header.",
  );
export type StreamMessage = z.infer<typeof streamMessage>;

/** Which events; for pages, server-sent events and the WebSocket alike. */
const filterEvents = z.object({
  after: z.coerce.number().pipe(z.int().nonnegative()).default(0).describe("the seq of the last event seen"),
  project: projectId.optional().describe("only of this project and its sessions"),
  types: z
    .string()
    .transform((list) => list.split(","))
    .pipe(streamFilter.shape.types.unwrap())
    .optional()
    .describe("only events of these types, separated by commas; `turn.*` is all that begin so"),
  deltas: flag.default("1").describe("0: no pieces of what is still growing"),
});

const session = sessionId.optional().describe("only of this session");

/** A page of a session's events, or a stream of them. */
export const readSessionEvents = filterEvents.extend({
  limit: z.coerce.number().pipe(z.int().min(1).max(1000)).default(500),
  follow: flag
    .default("0")
    .describe(
      "1: the answer is text/event-stream; `event` messages carry an event and its seq as id, `delta` messages (without id) a piece of something " +
        "still growing, `gap` messages tell of events that are no longer kept; Last-Event-ID wins over `after`",
    ),
});

export const readEvents = readSessionEvents.extend({ session });
export type ReadEvents = z.infer<typeof readEvents>;

/** The first subscription of a WebSocket. */
export const openStream = filterEvents.extend({ session });
