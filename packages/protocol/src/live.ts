import * as z from "zod";
import { callId, partId, sessionId } from "./id.ts";

/**
 * A piece of something still growing: reply text, reasoning, a command's output. Deltas are never
 * stored and have no seq; the event that closes the part repeats the whole. `offset` counts UTF-16
 * units from the start of the part, so a reader can tell a repeat from a gap.
 */
export const delta = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), session: sessionId, part: partId, offset: z.int(), text: z.string() }),
  z.object({ kind: z.literal("reasoning"), session: sessionId, part: partId, offset: z.int(), text: z.string() }),
  z.object({ kind: z.literal("stdout"), session: sessionId, part: callId, offset: z.int(), text: z.string() }),
  z.object({ kind: z.literal("stderr"), session: sessionId, part: callId, offset: z.int(), text: z.string() }),
]);
export type Delta = z.infer<typeof delta>;
