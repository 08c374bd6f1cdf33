import type { ProjectId, Scope, SessionId, StoredEvent, TokenFacts, TokenId } from "@corral/protocol";
import type { Change, Projection, Row } from "../log/index.ts";

export const tokenProjections: readonly Projection[] = [
  {
    table: "tokens",
    version: 1,
    columns: {
      name: "text",
      person: "text",
      scope: "text",
      project: "text",
      session: "text",
      expires_at: "text",
      made_with: "text",
      hash: "text",
      revoked: "integer",
    },
    changes,
  },
];

function changes(stored: StoredEvent): readonly Change[] {
  switch (stored.type) {
    case "token.created": {
      const { id, name, person, scope, project, session, expiresAt, madeWith, hash } = stored.data;
      const bounds = { project: project ?? null, session: session ?? null, expires_at: expiresAt ?? null };
      return [{ key: id, set: { name, person, scope, ...bounds, made_with: madeWith ?? null, hash, revoked: 0 } }];
    }
    case "token.revoked":
      return [{ key: stored.data.id, set: { revoked: 1 } }];
    default:
      // Other events do not touch this table.
      return [];
  }
}

export function factsIn(row: Row): TokenFacts {
  return {
    id: row["key"] as TokenId,
    name: row["name"] as string,
    person: row["person"] as string,
    scope: row["scope"] as Scope,
    ...(row["project"] === null ? {} : { project: row["project"] as ProjectId }),
    ...(row["session"] === null ? {} : { session: row["session"] as SessionId }),
    ...(row["expires_at"] === null ? {} : { expiresAt: row["expires_at"] as string }),
    ...(row["made_with"] === null ? {} : { madeWith: row["made_with"] as TokenId }),
    hash: row["hash"] as string,
  };
}
