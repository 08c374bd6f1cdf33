import { versionOf } from "@corral/protocol";
import type { Database } from "./database.ts";
import type { Projections } from "./projections.ts";

/** Puts a tombstone in the place of each event of the stream and drops the rows they made. Returns how many of each. */
export function eraseFacts(
  database: Database,
  projections: Projections,
  streamId: number,
): { readonly erased: number; readonly rows: number } {
  const erased = database.run(
    `UPDATE events INDEXED BY events_by_stream SET type = 'erased', type_version = ?, data = '{}', trace_id = NULL
     WHERE stream = ? AND type NOT IN ('erased', 'stream.erased')`,
    versionOf("erased"),
    streamId,
  );
  return { erased, rows: projections.erase(streamId) };
}
