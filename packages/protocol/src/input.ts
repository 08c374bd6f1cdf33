import * as z from "zod";
import { activityId, type ArtifactId, inputId } from "./id.ts";

/** `steer` joins the running activity at the next turn boundary; `queue` opens a later activity of its own. */
export const delivery = z.enum(["steer", "queue"]);
export type Delivery = z.infer<typeof delivery>;

export const attachment = z.object({ name: z.string().max(255), mediaType: z.string(), reference: z.string() });
export type Attachment = z.infer<typeof attachment>;

/**
 * A file of the session's workspace, by its path there: the agent is told of it and reads it with its own tools. Or one that was
 * attached before: an image is shown to the model, a text is told.
 */
const attachedFile = attachment.extend({
  name: z.string().min(1).max(255),
  mediaType: z.string().min(1).max(255),
  reference: z
    .string()
    .max(4096)
    .regex(
      /^(?:artifact:art_[0-9a-z]{1,40}|file:(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\n\r]+)$/,
      "only files of the workspace are attached, as file:PATH with a path from its root, and what was attached before, as artifact:ID",
    ),
});

/** A file to be attached: an image, or text. */
export const attachFile = z.object({
  name: z.string().min(1).max(255),
  base64: z
    .string()
    .max(6_000_000)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/, "expected base64"),
});
export type AttachFile = z.infer<typeof attachFile>;

/** Of one that was attached before. */
export function artifactOf({ reference }: Attachment): ArtifactId | undefined {
  const [, id] = /^artifact:(art_[0-9a-z]{1,40})$/.exec(reference) ?? [];
  return id as ArtifactId | undefined;
}

const inputText = z.string().min(1).max(1_000_000);

/** What a client sends. The id is the client's, so that sending it again is harmless. */
export const admitInput = z.object({
  id: inputId,
  text: inputText,
  attachments: z.array(attachedFile).max(20).default([]),
  delivery: delivery.default("steer"),
});
export type AdmitInput = z.infer<typeof admitInput>;

export const inputView = z.object({
  id: inputId,
  text: z.string(),
  attachments: z.array(attachment),
  delivery,
  state: z.enum(["waiting", "promoted", "cancelled"]),
  activityId: activityId.nullable(),
  /** The seq of what last changed it. */
  version: z.int(),
});
export type InputView = z.infer<typeof inputView>;

/** `duplicate`: the same input was admitted before, and nothing was done. `seq` is that of its admission. */
export const admission = z.object({ kind: z.enum(["admitted", "duplicate"]), input: inputView, seq: z.int() });
export type Admission = z.infer<typeof admission>;

/** The version that was seen: should the input have changed since, nothing is done. Without: whatever it is by now. */
const seen = { version: z.int().optional() };

/** What can be done to an input until it is promoted. */
export const changeInput = z.discriminatedUnion("change", [
  z.object({ change: z.literal("cancel"), ...seen }),
  z.object({ change: z.literal("edit"), text: inputText, ...seen }),
  z.object({ change: z.literal("flip"), delivery, ...seen }),
  /** `front`: the first of the queue; `now`: a steer, which joins at the next turn boundary. */
  z.object({ change: z.literal("promote"), to: z.enum(["front", "now"]), ...seen }),
]);
export type ChangeInput = z.infer<typeof changeInput>;

/** `unchanged`: it was so already. */
export const inputChanged = z.object({ kind: z.enum(["changed", "unchanged"]), input: inputView, seq: z.int() });
export type InputChanged = z.infer<typeof inputChanged>;

/** What waits to be promoted, in the order in which that will happen. */
export const inboxView = z.object({ inputs: z.array(inputView), isParked: z.boolean(), seq: z.int() });
export type InboxView = z.infer<typeof inboxView>;

export const decideQueue = z.object({ decision: z.enum(["park", "resume"]) });
export type DecideQueue = z.infer<typeof decideQueue>;

export const queueAnswer = z.object({ kind: z.enum(["parked", "resumed", "unchanged"]) });
export type QueueAnswer = z.infer<typeof queueAnswer>;
