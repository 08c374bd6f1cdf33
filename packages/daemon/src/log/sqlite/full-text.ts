/**
 * The index of a table's text, made of words. It holds no text of its own: triggers keep it as the table is, whoever
 * changes that, and what is deleted leaves the index at once, so that erased words are nowhere on disk.
 */
import type { Hit, SearchQuery, Value } from "../port.ts";
import { type Database, quoted } from "./database.ts";

/** Words around a hit. */
const snippetWords = 24;
/** What stands around a hit in what SQLite gives; a text that has them itself is shown with other hits, and that is all. */
const [hitBegins, hitEnds] = ["\u0001", "\u0002"] as const;

/** The number that the index knows a row by. It is a column of its own, for rewriting the file may change other ones. */
export const place = "place in the index";

/** To be called when the table was made and is empty. */
export function makeFullText(database: Database, table: string, column: string): void {
  const [index, source, text] = [indexOf(table), quoted(`projection_${table}`), quoted(column)];
  const add = `INSERT INTO ${index} (rowid, ${text}) VALUES (new.${quoted(place)}, new.${text});`;
  const remove = `INSERT INTO ${index} (${index}, rowid, ${text}) VALUES ('delete', old.${quoted(place)}, old.${text});`;
  database.define(`
    CREATE VIRTUAL TABLE ${index} USING fts5(
      ${text}, content=${source}, content_rowid=${quoted(place)}, tokenize="unicode61 remove_diacritics 2");
    INSERT INTO ${index} (${index}, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER ${trigger(table, "added")} AFTER INSERT ON ${source} BEGIN ${add} END;
    CREATE TRIGGER ${trigger(table, "removed")} AFTER DELETE ON ${source} BEGIN ${remove} END;
    CREATE TRIGGER ${trigger(table, "changed")} AFTER UPDATE ON ${source} BEGIN ${remove} ${add} END;`);
}

/** To be called before the table goes, or gets another name. Harmless when it has none. */
export function dropFullText(database: Database, table: string): void {
  for (const what of ["added", "removed", "changed"] as const)
    database.define(`DROP TRIGGER IF EXISTS ${trigger(table, what)}`);
  database.define(`DROP TABLE IF EXISTS ${indexOf(table)}`);
}

interface Found {
  readonly table: string;
  readonly columns: readonly string[];
  readonly query: SearchQuery;
}

export function findText(
  database: Database,
  { table, columns, query }: Found,
): { readonly cells: readonly Value[]; readonly pieces: Hit["pieces"] }[] {
  const words = wordsOf(query.words);
  if (words.length === 0) return [];
  const where = Object.entries(query.where ?? {});
  const sql = `
    SELECT snippet(${indexOf(table)}, 0, char(1), char(2), '…', ${snippetWords}),
           ${columns.map((column) => `source.${quoted(column)}`).join(", ")}
    FROM ${indexOf(table)} JOIN ${quoted(`projection_${table}`)} AS source ON source.${quoted(place)} = ${indexOf(table)}.rowid
    WHERE ${indexOf(table)} MATCH ? ${where.map(([column]) => `AND source.${quoted(column)} IS ?`).join(" ")}
    ORDER BY ${indexOf(table)}.rank, source.${quoted(place)} DESC LIMIT ?`;
  const found = database.each(sql, matching(words), ...where.map(([, value]) => value), query.limit);
  return Array.from(found, ([snippet, ...cells]) => ({ cells, pieces: piecesOf(snippet as string) }));
}

/** As the index tells words apart; what is neither letter nor digit cannot be looked for. */
function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}\p{M}\p{Co}]+/u).filter((word) => word !== "");
}

function matching(words: readonly string[]): string {
  return `${words.map((word) => `"${word}"`).join(" ")} *`;
}

function piecesOf(snippet: string): Hit["pieces"] {
  const parts = snippet.split(hitBegins).flatMap((part, index) => {
    const [hit = "", ...rest] = index === 0 ? ["", part] : part.split(hitEnds);
    return [
      { text: hit, isHit: true },
      { text: rest.join(""), isHit: false },
    ];
  });
  return parts.filter(({ text }) => text !== "");
}

function indexOf(table: string): string {
  return quoted(`search_${table}`);
}

function trigger(table: string, what: "added" | "removed" | "changed"): string {
  return quoted(`search_${table}_${what}`);
}
