import * as z from "zod";

/** An error document of RFC 9457 with Corral's own fields. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string().optional(),
  hint: z.string().optional(),
  retry: z.enum(["now", "later", "never"]),
  /** How long `later` is, where that is known. */
  retryAfterSeconds: z.int().optional(),
});
export type Problem = z.infer<typeof problem>;
