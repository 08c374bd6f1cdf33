import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  CorralError,
  type CreatedToken,
  type CreateToken,
  event,
  newId,
  type TokenId,
  tokenPrefix,
  type TokenView,
} from "@corral/protocol";
import type { By, Log } from "../log/index.ts";
import { grant } from "./grant.ts";
import { Ring } from "./ring.ts";
import type { Principal } from "../routing/index.ts";
import { factsIn } from "./projection.ts";

/**
 * Who is let in by a secret.
 *
 * 1. A secret is 32 random bytes, told once; its SHA-256 is all that is kept, and all that is ever compared.
 * 2. A token never exceeds the one it was made with, and ends with it.
 * 3. What a principal's `over` tells is told in the moment that the revocation is durable, or the time is up.
 * 4. The owner's own secret is the person `owner`, an admin; it is no token and cannot be revoked.
 */
export interface Tokens {
  /** Durable when it resolves. Throws `auth.scope`, and `append.conflict` when the id is taken. */
  create(wish: CreateToken, maker: Principal, by: By, id?: TokenId): Promise<CreatedToken>;
  list(): readonly TokenView[];
  /** Undefined for a token that never was. */
  revoke(id: TokenId, by: By): Promise<"revoked" | "already-revoked" | undefined>;
  find(secret: string): Principal | undefined;
  /** Lets go of the log and of every timer. */
  close(): void;
}

export interface TokenTerms {
  /** The content of the owner's token file. */
  readonly ownerSecret: string;
  readonly now?: () => number;
}

export async function openTokens(
  log: Pick<Log, "append" | "rows" | "onCommit">,
  { ownerSecret, now = Date.now }: TokenTerms,
): Promise<Tokens> {
  const owner: Principal = { person: "owner", scope: "admin" };
  const ownerDigest = digest(ownerSecret);
  const ring = new Ring(now);
  const unsubscribe = log.onCommit((events) => {
    for (const stored of events) {
      if (stored.type === "token.created") ring.add(stored.data);
      if (stored.type === "token.revoked") ring.revoke(stored.data.id);
    }
  });
  for (const row of await log.rows("tokens")) {
    ring.add(factsIn(row));
    if (row["revoked"] === 1) ring.revoke(row["key"] as TokenId);
  }

  return {
    async create(wish, maker, by, id = newId("token")) {
      const token = tokenPrefix + randomBytes(32).toString("base64url");
      const facts = { id, ...grant(wish, maker, now()), hash: digest(token).toString("hex") };
      await log.append({ ...by, stream: id, expectedVersion: 0, events: [event("token.created", facts)] });
      return { ...viewOf(id), token };
    },

    list: () => ring.list(),

    async revoke(id, by) {
      const view = ring.view(id);
      if (view === undefined) return undefined;
      if (view.state === "revoked") return "already-revoked";
      try {
        await log.append({
          ...by,
          stream: id,
          events: [event("token.revoked", { id })],
          guards: [{ table: "tokens", key: id, is: { revoked: 0 } }],
        });
      } catch (error) {
        if (error instanceof CorralError && error.code === "append.conflict") return "already-revoked";
        throw error;
      }
      return "revoked";
    },

    find(secret) {
      const given = digest(secret);
      return timingSafeEqual(given, ownerDigest) ? owner : ring.find(given);
    },

    close() {
      unsubscribe();
      ring.close();
    },
  };

  function viewOf(id: TokenId): TokenView {
    const view = ring.view(id);
    if (view === undefined) throw new CorralError("internal", `token ${id} was made but is not known`);
    return view;
  }
}

/** Hashing first makes the compared values equally long, whatever was sent. */
function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
