import * as z from "zod";

/** Tokens of one model request, as the provider counted them. */
export const usage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative().optional(),
});
export type Usage = z.infer<typeof usage>;
