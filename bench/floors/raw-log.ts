/**
 * node raw-log.ts WHAT FILE COUNT: what SQLite does with the same rows when nothing is in the way: `batches` writes ten
 * in a transaction, `lone` one, `reads` reads all of them, each with FULL sync. Prints one line of JSON.
 */
import { DatabaseSync } from "node:sqlite";

const [what = "", file = "", count = "0"] = process.argv.slice(2);
const total = Number(count);
const data = JSON.stringify({
  id: "trn_01k7zp3m9q0000000000000001",
  part: "prt_01k7zp3m9q0000000000000001",
  kind: "text",
  text: "Some words of a reply, about as many as there are in most. ".repeat(3),
});

const database = new DatabaseSync(file);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
database.exec(
  `CREATE TABLE events (seq INTEGER PRIMARY KEY, stream INTEGER NOT NULL, version INTEGER NOT NULL, type TEXT NOT NULL,
     type_version INTEGER NOT NULL, data TEXT NOT NULL, actor TEXT NOT NULL, trace_id TEXT, created TEXT NOT NULL) STRICT;
   CREATE INDEX events_by_stream ON events (stream)`,
);
const insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
let seq = 0;

switch (what) {
  case "batches":
    write(2000, 10);
    tell(measure(() => write(total, 10)));
    break;
  case "lone":
    write(200, 1);
    tell(measure(() => write(total, 1)));
    break;
  case "reads":
    write(total, 1000);
    read();
    tell(measure(() => read()));
}
database.close();

function write(rows: number, each: number): void {
  for (let n = 0; n < rows; n += each) {
    database.exec("BEGIN IMMEDIATE");
    for (let k = 0; k < each; k++) writeOne();
    database.exec("COMMIT");
  }
}

function writeOne(): void {
  seq += 1;
  const created = new Date().toISOString();
  insert.run(seq, seq % 64, seq, "turn.said", 1, data, "agent:ses_1", "0af7651916cd43dd8448eb211c80319c", created);
}

/** In pages, as whoever does not want to hold all of it would. */
function read(): void {
  const page = database.prepare("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT 1000");
  let found = 0;
  for (let after = 0; ;) {
    const rows = page.all(after) as { seq: number; data: string }[];
    if (rows.length === 0) break;
    for (const row of rows) if (typeof JSON.parse(row.data) === "object") found += 1;
    after = rows.at(-1)?.seq ?? after;
  }
  if (found !== total) throw new Error(`${found} rows were read instead of ${total}`);
}

function measure(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function tell(ms: number): void {
  process.stdout.write(`${JSON.stringify({ ms, rss: process.memoryUsage.rss() })}\n`);
}
