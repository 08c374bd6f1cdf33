import { type ChainRecord, factsHash, genesis, linkAfter, wholeHash, type WrittenEvent } from "../chain.ts";
import type { ChainRange } from "../port.ts";
import type { Cell, Database } from "./database.ts";

/** Places in one page: a pause of a few milliseconds for all others. */
const defaultLimit = 500;
/** A page ends early rather than hold more characters of data than this. */
const pageCharacters = 2_000_000;

/** The newest link, with its seq. Under it the next one goes. */
export function newestLink(database: Database): { readonly seq: number; readonly link: string } {
  const [seq, link] = database.first("SELECT seq, link FROM chain ORDER BY seq DESC LIMIT 1") ?? [0, genesis];
  return { seq: seq as number, link: link as string };
}

/** Returns the new link. */
export function insertLink(
  database: Database,
  previous: string,
  seq: number,
  salt: string,
  written: WrittenEvent,
): string {
  const link = linkAfter(previous, seq, wholeHash(written, factsHash(salt, written)));
  database.run("INSERT INTO chain (seq, link) VALUES (?, ?)", seq, link);
  return link;
}

const columns = "e.seq, s.name, e.version, e.type, e.type_version, e.data, e.actor, e.trace_id, e.created, s.salt";

/** Keeps the hashes of all facts of a stream that are about to be erased. */
export function keepFacts(database: Database, streamId: number): void {
  const rows = database.each(
    `SELECT ${columns} FROM streams s CROSS JOIN events e INDEXED BY events_by_stream ON e.stream = s.id
     WHERE s.id = ? AND e.type <> 'erased'`,
    streamId,
  );
  for (const row of rows) {
    const { seq, salt, event } = readRow(row);
    // That of an earlier end of the stream is there already.
    database.run("UPDATE chain SET kept = ? WHERE seq = ? AND kept IS NULL", factsHash(salt, event), seq);
  }
}

/** Keeps the hash of an event that is about to be removed for its age. */
export function keepWhole(database: Database, seq: number): void {
  const row = database.first(
    `SELECT ${columns}, c.kept FROM events e CROSS JOIN streams s ON s.id = e.stream CROSS JOIN chain c ON c.seq = e.seq
     WHERE e.seq = ?`,
    seq,
  );
  // What is older than the chain has no place in it.
  if (row === undefined) return;
  const { salt, event } = readRow(row);
  const facts = (row[10] as string | null) ?? factsHash(salt, event);
  database.run("UPDATE chain SET kept = ? WHERE seq = ?", wholeHash(event, facts), seq);
}

const links = "SELECT seq, link, kept FROM chain WHERE seq > ? ORDER BY seq LIMIT ?";
const events = `SELECT ${columns} FROM events e LEFT JOIN streams s ON s.id = e.stream
  WHERE e.seq > ? ORDER BY e.seq LIMIT ?`;
const inSkip = `SELECT (SELECT count(*) FROM events WHERE seq BETWEEN ? AND ?) +
  (SELECT count(*) FROM chain WHERE seq BETWEEN ? AND ?)`;
const skips = "SELECT first, last FROM skips WHERE last > ? ORDER BY first LIMIT ?";

/**
 * A page of what the store has at each place: links and events side by side, whichever of the two is missing. As of one
 * moment, also while another process writes.
 */
export function readChain(database: Database, { after, limit = defaultLimit }: ChainRange): readonly ChainRecord[] {
  database.run("BEGIN");
  try {
    if (after !== undefined) return placesAfter(database, after, limit);
    const [seq, link] = database.first("SELECT seq, link FROM chain ORDER BY seq LIMIT 1") ?? [0, ""];
    return [{ kind: "begin", seq: seq as number, link: link as string }];
  } finally {
    database.run("COMMIT");
  }
}

/** Whether the file is of a program that kept a chain. */
export function hasChain(database: Database): boolean {
  return database.first("SELECT 1 FROM sqlite_schema WHERE name = 'chain'") !== undefined;
}

function placesAfter(database: Database, after: number, limit: number): readonly ChainRecord[] {
  const linkRows = new Ahead(database.each(links, after, limit));
  const eventRows = new Ahead(database.each(events, after, limit));
  const skipRows = new Ahead(database.each(skips, after, limit));
  const records: ChainRecord[] = [];
  let characters = 0;
  try {
    // Whoever ran out at its limit may have more behind it.
    while (records.length < limit && characters < pageCharacters) {
      const seq = Math.min(linkRows.at, eventRows.at);
      if (skipRows.at <= seq && skipRows.at !== Infinity) {
        const [first, last] = skipRows.take();
        const [held] = database.first(inSkip, first!, last!, first!, last!) ?? [0];
        records.push({ kind: "skip", from: first as number, to: last as number, holds: held as number });
        continue;
      }
      if (seq === Infinity) break;
      const link = linkRows.at === seq ? linkRows.take() : undefined;
      const row = eventRows.at === seq ? eventRows.take() : undefined;
      characters += (row?.[5] as string | undefined)?.length ?? 0;
      records.push(placeOf(seq, link, row));
    }
    return records;
  } finally {
    for (const rows of [linkRows, eventRows, skipRows]) rows.stop();
  }
}

function placeOf(seq: number, link: readonly Cell[] | undefined, row: readonly Cell[] | undefined): ChainRecord {
  const read = row === undefined ? undefined : readRow(row);
  return {
    kind: "place",
    seq,
    link: link?.[1] as string | undefined,
    kept: (link?.[2] ?? undefined) as string | undefined,
    event: read?.event,
    salt: read?.salt ?? "",
  };
}

function readRow(row: readonly Cell[]): { readonly seq: number; readonly salt: string; readonly event: WrittenEvent } {
  const [seq, stream, version, type, typeVersion, data, actor, traceId, time, salt] = row;
  const event = { stream: stream ?? "", version, type, typeVersion, data, actor, traceId, time } as WrittenEvent;
  return { seq: seq as number, salt: (salt ?? "") as string, event };
}

/** Rows in order of their first cell, looked at before they are taken. */
class Ahead {
  readonly #rows: Generator<readonly Cell[], void, undefined>;
  #next: readonly Cell[] | undefined;

  constructor(rows: Generator<readonly Cell[], void, undefined>) {
    this.#rows = rows;
    this.#advance();
  }

  /** Where the next one is; infinitely far when there is none. */
  get at(): number {
    return (this.#next?.[0] ?? Infinity) as number;
  }

  take(): readonly Cell[] {
    const row = this.#next!;
    this.#advance();
    return row;
  }

  stop(): void {
    this.#rows.return();
  }

  #advance(): void {
    const { done, value } = this.#rows.next();
    this.#next = done === true ? undefined : value;
  }
}
