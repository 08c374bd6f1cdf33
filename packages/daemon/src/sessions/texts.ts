import type { FoundSession, ProjectId, SessionId, StoredEvent } from "@corral/protocol";
import type { Change, Log } from "../log/index.ts";

/**
 * What can be looked for in sessions that were: what people said, what agents answered, what sessions are called.
 * What was cancelled or edited away is not found, and all of it goes with the session.
 */
export function textChanges(stored: StoredEvent): readonly Change[] {
  const { stream, seq } = stored;
  if (!stream.startsWith("ses_")) return [];
  const said = (key: string, kind: FoundSession["in"], text: string): Change => ({
    key,
    set: { session: stream, kind, text, seq },
  });
  switch (stored.type) {
    case "input.admitted": {
      const { id, text, title } = stored.data;
      return [said(id, "input", text), ...(title === undefined ? [] : [said(stream, "title", title)])];
    }
    case "input.edited":
      return [said(stored.data.id, "input", stored.data.text)];
    case "input.cancelled":
      return [{ key: stored.data.id, delete: true }];
    case "turn.said":
      return stored.data.kind === "text" ? [said(stored.data.part, "reply", stored.data.text)] : [];
    case "session.renamed":
      return [said(stream, "title", stored.data.title)];
    case "session.expired":
      return [{ deleteAll: true }];
    default:
      // Other events do not touch this table.
      return [];
  }
}

export interface Search {
  readonly words: string;
  readonly limit: number;
  /** Of one session alone. */
  readonly session?: SessionId | undefined;
  /** Which sessions may be found. */
  readonly sees?: (session: SessionId) => boolean;
}

/** Places looked at: of more than this nobody can say which are the best. */
const mostPlaces = 1_000;

/** Sessions with all the words in one place, the best first, each with its best place. */
export async function searchTexts(log: Log, search: Search): Promise<readonly FoundSession[]> {
  const { words, limit, session, sees = () => true } = search;
  const where = session === undefined ? {} : { session };
  const best = new Map<SessionId, Omit<FoundSession, "id" | "projectId" | "title" | "isArchived">>();
  for (const { row, pieces } of await log.search("texts", { words, where, limit: mostPlaces })) {
    const id = row["session"] as SessionId;
    if (!sees(id)) continue;
    const place = best.get(id) ?? {
      in: row["kind"] as FoundSession["in"],
      at: row["seq"] as number,
      pieces: pieces.map((piece) => ({ ...piece })),
      hits: 0,
    };
    best.set(id, { ...place, hits: place.hits + 1 });
  }
  const found = [...best].slice(0, limit).map(async ([id, place]) => {
    const row = await log.row("sessions", id);
    if (row === undefined) return [];
    const facts = { projectId: row["project"] as ProjectId, title: row["title"] as string };
    return [{ id, ...facts, isArchived: row["archived"] === 1, ...place }];
  });
  return (await Promise.all(found)).flat();
}
