import * as z from "zod";
import { activityId, callId, questionId } from "./id.ts";
import { placeInLine } from "./place.ts";

/** A person's word on a call that nobody knows the end of, on whether to go on after so many turns, or on a question. */
export const waitingOn = z.enum(["recovery", "continue", "question"]);
export type WaitingOn = z.infer<typeof waitingOn>;

/** When it began, by the clock of that time. */
const since = z.string();

const idle = z.object({ state: z.literal("idle"), since });
const thinking = z.object({ state: z.literal("thinking"), since, activityId });
/** For a person. */
const waiting = z.object({
  state: z.literal("waiting"),
  since,
  activityId,
  on: waitingOn,
  /** Those to be decided on. */
  calls: z.array(callId),
  /** Those to be answered. */
  questions: z.array(questionId),
});
/** In line, until others are done or rest. */
const inLine = z.object({ state: z.literal("waiting"), since, on: z.literal("place"), ...placeInLine.shape });
/** What it did was cut off or failed, and is taken up again. */
const recovering = z.object({ state: z.literal("recovering"), since, activityId, reason: z.string() });
const failed = z.object({ state: z.literal("failed"), since, activityId, message: z.string() });
/** Nothing runs, and so many inputs wait for a person to resume the queue. */
const parked = z.object({ state: z.literal("parked"), since, inputs: z.int().positive() });

/** What a session is doing, in one word, since when, and what it is doing it on. There will be more of them. */
export const sessionState = z.discriminatedUnion("state", [
  idle,
  thinking,
  z.discriminatedUnion("on", [waiting, inLine]),
  recovering,
  failed,
  parked,
]);
export type SessionState = z.infer<typeof sessionState>;
