import { setTimeout as sleep } from "node:timers/promises";
import { CorralError, versionOf } from "@corral/protocol";
import { keepFacts } from "./chain.ts";
import type { Database } from "./database.ts";
import { storeFailure } from "./failures.ts";
import type { Projections } from "./projections.ts";

/** How long other processes are waited for. */
const patienceMs = 10_000;

/** Puts a tombstone in the place of each event of the stream and drops the rows they made. Returns how many of each. */
export function eraseFacts(
  database: Database,
  projections: Projections,
  streamId: number,
): { readonly erased: number; readonly rows: number } {
  keepFacts(database, streamId);
  const erased = database.run(
    `UPDATE events INDEXED BY events_by_stream SET type = 'erased', type_version = ?, data = '{}', trace_id = NULL
     WHERE stream = ? AND type NOT IN ('erased', 'stream.erased')`,
    versionOf("erased"),
    streamId,
  );
  return { erased, rows: projections.erase(streamId) };
}

/** Takes what was deleted off the disk, waiting for other processes to let it. `requireOpen` throws when there is no going on. */
export async function leaveNoTrace(database: Database, requireOpen: () => void): Promise<void> {
  await patiently(() => database.rewrite(), requireOpen);
  await patiently(() => database.emptyWriteAheadLog(), requireOpen);
}

async function patiently(work: () => "done" | "busy", requireOpen: () => void): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (attempt(work) === "busy") {
    if (performance.now() > deadline) throw stillRead();
    await sleep(20);
    requireOpen();
  }
}

function attempt(work: () => "done" | "busy"): "done" | "busy" {
  try {
    return work();
  } catch (error) {
    throw storeFailure("The erased is out of the log but not yet off the disk", error);
  }
}

function stillRead(): CorralError {
  return new CorralError(
    "log.unwritable",
    "The erased is out of the log but not yet off the disk: another process reads the file.",
    { retry: "later", hint: "Close what else has the file open, then erase again." },
  );
}
