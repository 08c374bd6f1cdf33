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
  /** The column that is searched. */
  readonly text: string;
  readonly columns: readonly string[];
  readonly query: SearchQuery;
}

type Place = { readonly cells: readonly Value[]; readonly pieces: Hit["pieces"] };

export function findText(database: Database, { table, text, columns, query }: Found): readonly Place[] {
  const words = wordsOf(query.words);
  const [spaced, unspaced] = [words.filter((word) => !isUnspaced(word)), words.filter(isUnspaced)];
  if (words.length === 0) return [];
  const where = Object.entries(query.where ?? {});
  const source = quoted(`projection_${table}`);
  const cells = columns.map((column) => `source.${quoted(column)}`).join(", ");
  const conditions = [
    ...where.map(([column]) => `source.${quoted(column)} IS ?`),
    ...unspaced.map(() => `instr(lower(source.${quoted(text)}), lower(?)) > 0`),
  ];
  const values = [...where.map(([, value]) => value), ...unspaced, query.limit];
  if (spaced.length === 0) {
    const sql = `
      SELECT source.${quoted(text)}, ${cells} FROM ${source} AS source
      WHERE ${conditions.join(" AND ")} ORDER BY source.${quoted(place)} DESC LIMIT ?`;
    const found = database.each(sql, ...values);
    return Array.from(found, ([whole, ...rest]) => ({ cells: rest, pieces: piecesAround(whole as string, unspaced) }));
  }
  const index = indexOf(table);
  const sql = `
    SELECT snippet(${index}, 0, char(1), char(2), '…', ${snippetWords}), ${cells}
    FROM ${index} JOIN ${source} AS source ON source.${quoted(place)} = ${index}.rowid
    WHERE ${[`${index} MATCH ?`, ...conditions].join(" AND ")}
    ORDER BY ${index}.rank, source.${quoted(place)} DESC LIMIT ?`;
  const found = database.each(sql, matching(spaced), ...values);
  return Array.from(found, ([snippet, ...rest]) => ({ cells: rest, pieces: piecesOf(snippet as string) }));
}

/** As the index tells words apart; what is neither letter nor digit cannot be looked for. */
function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}\p{M}\p{Co}]+/u).filter((word) => word !== "");
}

/**
 * In these scripts words follow each other without a space, so that the index has whole sentences for words. What is looked for in
 * them is looked for in the texts themselves.
 */
function isUnspaced(word: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(
    word,
  );
}

/** Letters around the first hit. */
const around = 40;

function piecesAround(text: string, words: readonly string[]): Hit["pieces"] {
  const folded = text.toLowerCase();
  const first = Math.max(0, Math.min(...words.map((word) => folded.indexOf(word.toLowerCase()))));
  const [from, to] = [Math.max(0, first - around), first + 2 * around];
  const shown = `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
  const parts = shown.split(new RegExp(`(${words.join("|")})`, "iu"));
  return parts.map((part, nth) => ({ text: part, isHit: nth % 2 === 1 })).filter((part) => part.text !== "");
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
