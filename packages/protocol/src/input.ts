import * as z from "zod";
import { activityId, inputId } from "./id.ts";

/** `steer` joins the running activity at the next turn boundary; `queue` opens a later activity of its own. */
export const delivery = z.enum(["steer", "queue"]);
export type Delivery = z.infer<typeof delivery>;

export const attachment = z.object({ name: z.string().max(255), mediaType: z.string(), reference: z.string() });
export type Attachment = z.infer<typeof attachment>;

/** What a client sends. The id is the client's, so that sending it again is harmless. */
export const admitInput = z.object({
  id: inputId,
  text: z.string().min(1).max(1_000_000),
  /** None is taken so far; an input with one is refused rather than half understood. */
  attachments: z.array(attachment).max(0, "attachments are not taken").default([]),
  delivery: delivery.default("steer"),
});
export type AdmitInput = z.infer<typeof admitInput>;

export const inputView = z.object({
  id: inputId,
  text: z.string(),
  attachments: z.array(attachment),
  delivery,
  state: z.enum(["waiting", "promoted"]),
  activityId: activityId.nullable(),
});
export type InputView = z.infer<typeof inputView>;

/** `duplicate`: the same input was admitted before, and nothing was done. `seq` is that of its admission. */
export const admission = z.object({ kind: z.enum(["admitted", "duplicate"]), input: inputView, seq: z.int() });
export type Admission = z.infer<typeof admission>;
