import * as z from "zod";
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
export const streamMessage = z.discriminatedUnion("kind", [
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
]);
export type StreamMessage = z.infer<typeof streamMessage>;
