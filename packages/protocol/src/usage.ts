import * as z from "zod";

/** Tokens of one model request, as the provider counted them. Those after the first two are parts of these. */
export const usage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  /** Of the input: found in the prompt cache. */
  cachedInputTokens: z.int().nonnegative().optional(),
  /** Of the input: written to the prompt cache. */
  cacheWriteTokens: z.int().nonnegative().optional(),
  /** Of the output: what was thought. */
  reasoningTokens: z.int().nonnegative().optional(),
});
export type Usage = z.infer<typeof usage>;
