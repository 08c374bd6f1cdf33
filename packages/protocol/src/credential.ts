import * as z from "zod";

/** The part before the slash in a model's name. */
export const providerName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "expected a provider's name, as in openai");

/** Names that no server of somebody's own can have. */
export const reservedProviders: readonly string[] = ["anthropic", "openai", "google", "ollama", "rehearsal"];

/** A key as it is kept: itself, or a command that prints it. */
export const setCredential = z.union([
  z.strictObject({
    key: z
      .string()
      .min(1)
      .max(10_000)
      .regex(/^[\x21-\x7e]+$/, "expected a key without spaces"),
  }),
  z.strictObject({ command: z.array(z.string().min(1).max(4096)).min(1).max(50) }),
]);
export type SetCredential = z.infer<typeof setCredential>;

export const credentialKind = z.enum(["key", "command"]);
export type CredentialKind = z.infer<typeof credentialKind>;

/** Where a provider's key is from, and never what it is. */
export const credentialView = z.object({
  provider: providerName,
  /** `variable`: of the environment that the daemon was started in, which wins over what is kept; null: there is none. */
  source: z.enum(["variable", "key", "command"]).nullable(),
  /** The variable that holds its key, or would. */
  variable: z.string(),
  /** The program that prints it. */
  program: z.string().optional(),
  /** Whether the provider can be asked without one. */
  isNeeded: z.boolean(),
});
export type CredentialView = z.infer<typeof credentialView>;

export const credentialList = z.object({ credentials: z.array(credentialView) });

export const credentialAnswer = z.object({ provider: providerName, kind: z.enum(["stored", "removed", "nothing"]) });
export type CredentialAnswer = z.infer<typeof credentialAnswer>;

/** How the provider answered a question that costs nothing. */
export const credentialTest = z.object({
  provider: providerName,
  outcome: z.enum(["accepted", "refused", "unavailable"]),
  message: z.string(),
  hint: z.string().optional(),
});
export type CredentialTest = z.infer<typeof credentialTest>;
