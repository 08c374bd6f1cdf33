import { CorralError } from "@corral/protocol";
import type { Database } from "./database.ts";

/**
 * Each entry lifts the schema by one version; entries are added, never changed.
 *
 * A stream's version is that of its newest event, found by `events_by_stream`, whose entries SQLite
 * ends with the seq: one small index serves reading a stream in order and knowing its version.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE streams (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     fence INTEGER NOT NULL,
     holder TEXT
   ) STRICT;
   CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     stream INTEGER NOT NULL,
     version INTEGER NOT NULL,
     type TEXT NOT NULL,
     type_version INTEGER NOT NULL,
     data TEXT NOT NULL,
     actor TEXT NOT NULL,
     trace_id TEXT,
     created TEXT NOT NULL
   ) STRICT;
   CREATE INDEX events_by_stream ON events (stream);
   CREATE TABLE projections (
     name TEXT PRIMARY KEY,
     version INTEGER NOT NULL,
     shape TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,

  // Leases with a time: `beat` counts renewals, so that others see that there was one. Trimming: of a stream, the last
  // event removed; of the log, the seq up to which something may be missing. A projection that the present program
  // does not have stays as of `until`.
  `ALTER TABLE streams ADD COLUMN ttl INTEGER;
   ALTER TABLE streams ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE streams ADD COLUMN trimmed_seq INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE streams ADD COLUMN trimmed_version INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE projections ADD COLUMN until INTEGER;
   CREATE TABLE marks (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   INSERT INTO marks (name, seq) VALUES ('trimmed', 0);`,

  // Seqs that were given by another log in this place, and are not given again.
  `CREATE TABLE skips (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;`,
];

/**
 * Brings the schema to this program's version. To be called inside an immediate transaction: of two starters one
 * migrates, and one that dies meanwhile leaves the old version whole.
 */
export function migrate(database: Database, file: string): void {
  const found = database.first("PRAGMA user_version")?.[0] as number;
  requireKnownVersion(found, file);
  if (found === migrations.length) return;
  for (const migration of migrations.slice(found)) database.define(migration);
  database.define(`PRAGMA user_version = ${migrations.length}`);
}

/** Throws `log.too-new` for what a later program wrote. */
export function requireKnownVersion(found: number, file: string): void {
  if (found > migrations.length) throw tooNew(file, found);
}

function tooNew(file: string, found: number): CorralError {
  return new CorralError(
    "log.too-new",
    `The log at ${file} has schema version ${found}; this program knows up to ${migrations.length}.`,
    { hint: "Start the newer Corral that wrote it, or point CORRAL_HOME at another folder." },
  );
}
