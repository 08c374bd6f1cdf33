import * as z from "zod";
import { projectId, sessionId, tokenId } from "./id.ts";

/** What a token lets its bearer do; each includes those before it. */
export const scope = z.enum(["read", "prompt", "operate", "admin"]);
export type Scope = z.infer<typeof scope>;

export const scopes: readonly Scope[] = scope.options;

export function covers(has: Scope, needs: Scope): boolean {
  return scopes.indexOf(has) >= scopes.indexOf(needs);
}

/** Names of tokens and persons end up in events, lists and logs, so their shape is plain. */
const plainName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, "expected up to 64 letters, digits, dots, dashes, underscores or @");

/** What a bearer's secret looks like, so that one that leaked is recognised wherever it turns up. */
export const tokenPrefix = "corral_";

export const createToken = z.object({
  name: plainName,
  /** Whose deeds they are. By default the name; for makers that are no admins always themselves. */
  person: plainName.optional(),
  scope: scope.default("read"),
  /** Nothing outside of this project exists for the bearer. */
  project: projectId.optional(),
  /** Nothing outside of this session exists for the bearer. */
  session: sessionId.optional(),
  expiresInSeconds: z
    .int()
    .min(1)
    .max(10 * 366 * 86_400)
    .optional(),
});
export type CreateToken = z.infer<typeof createToken>;

/** The facts of a token, as recorded. `hash` is the SHA-256 of its secret, which is kept nowhere. */
export const tokenFacts = z.object({
  id: tokenId,
  name: z.string(),
  person: z.string(),
  scope,
  project: projectId.optional(),
  session: sessionId.optional(),
  expiresAt: z.string().optional(),
  /** The token it was made with; it ends with that one. */
  madeWith: tokenId.optional(),
  hash: z.string(),
});
export type TokenFacts = z.infer<typeof tokenFacts>;

export const tokenView = tokenFacts.omit({ hash: true }).extend({ state: z.enum(["valid", "expired", "revoked"]) });
export type TokenView = z.infer<typeof tokenView>;

export const tokenList = z.object({ tokens: z.array(tokenView) });
export type TokenList = z.infer<typeof tokenList>;

/** `token` is what to send as `Authorization: Bearer`. It is told this once. */
export const createdToken = tokenView.extend({ token: z.string() });
export type CreatedToken = z.infer<typeof createdToken>;

export const revokeAnswer = z.object({ kind: z.enum(["revoked", "already-revoked"]), id: tokenId });
export type RevokeAnswer = z.infer<typeof revokeAnswer>;
