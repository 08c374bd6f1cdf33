import { covers, CorralError, type CreateToken, type TokenFacts } from "@corral/protocol";
import { isFullAdmin, type Principal } from "../routing/index.ts";

export type Grant = Omit<TokenFacts, "id" | "hash">;

/**
 * What a token that this maker wishes for may do. It never exceeds its maker: what is left open is taken from the
 * maker, and what reaches further is refused with `auth.scope`.
 */
export function grant(wish: CreateToken, maker: Principal, now: number): Grant {
  if (!covers(maker.scope, wish.scope)) throw exceeds(`you have the scope ${maker.scope}, not ${wish.scope}`);
  const person = wish.person ?? (isFullAdmin(maker) ? wish.name : maker.person);
  if (person !== maker.person && !isFullAdmin(maker)) throw exceeds("only an admin makes tokens for others");
  const project = within("project", wish.project, maker.project);
  const session = within("session", wish.session, maker.session);
  const expiresAt = endOf(wish, maker, now);
  return {
    name: wish.name,
    person,
    scope: wish.scope,
    ...(project === undefined ? {} : { project }),
    ...(session === undefined ? {} : { session }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(maker.token === undefined ? {} : { madeWith: maker.token }),
  };
}

function within<T extends string>(what: string, wished: T | undefined, own: T | undefined): T | undefined {
  if (own !== undefined && wished !== undefined && wished !== own)
    throw exceeds(`your own token is for another ${what}`);
  return own ?? wished;
}

function endOf({ expiresInSeconds }: CreateToken, maker: Principal, now: number): string | undefined {
  if (expiresInSeconds === undefined) return maker.expiresAt;
  const end = now + expiresInSeconds * 1000;
  if (maker.expiresAt !== undefined && end > Date.parse(maker.expiresAt)) throw exceeds("your own token ends earlier");
  return new Date(end).toISOString();
}

function exceeds(why: string): CorralError {
  return new CorralError("auth.scope", `A token cannot exceed the one it is made with: ${why}`, {
    hint: "Ask an admin, or make it narrower",
  });
}
