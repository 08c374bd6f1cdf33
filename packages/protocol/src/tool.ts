import * as z from "zod";

/** A tool as a model is shown it. */
export const toolOffer = z.object({
  name: z.string(),
  description: z.string(),
  /** JSON schema of the arguments. */
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolOffer = z.infer<typeof toolOffer>;

/** Names of tools, with `*` for any piece of one; with `!` before it, what is taken out again. The last that fits counts. */
export const toolPatterns = z
  .array(z.string().regex(/^!?[A-Za-z0-9_*.-]{1,100}$/, "expected the name of a tool, with * for any piece of it"))
  .max(200);

/** Which tools a session may have, by who said it: what any of them leaves out is not there. */
export const toolChoice = z.object({
  persona: toolPatterns.optional(),
  agent: toolPatterns.optional(),
  session: toolPatterns.optional(),
});
export type ToolChoice = z.infer<typeof toolChoice>;
