/** A process that opens an older log: `migration-child.ts <what> <folder> [name]`. */
import { join } from "node:path";
import { admitted, inputs } from "../../conformance/fixture.ts";
import type { Projection } from "../../port.ts";
import { openSqliteLog } from "../open.ts";

const [, , what, folder, name = ""] = process.argv as [string, string, string, string, string?];
const file = join(folder, "log.db");

/** Ends its process while the new schema's tables are being built, with thousands of rows written. */
const deadly: Projection = {
  ...inputs,
  changes(stored) {
    if (stored.seq === 4000) process.kill(process.pid, "SIGKILL");
    return inputs.changes(stored);
  },
};

const log = await openSqliteLog({ file, projections: [what === "die-migrating" ? deadly : inputs] });
await log.append({ stream: name, events: [admitted(`from-${name}`)], actor: "u" });
await log.close();
process.stdout.write("stored");
