import { join } from "node:path";
import type { LogDriver } from "../../conformance/fixture.ts";
import { defaultTailLimits } from "../../tail.ts";
import { Database } from "../database.ts";
import { openSqliteLog } from "../open.ts";

/** The SQLite log as the conformance suite, and the processes it starts, open it. */
export const driver: LogDriver = {
  open: ({ folder, projections, readerBound = defaultTailLimits.backlog, onDefect }) =>
    openSqliteLog({
      file: join(folder, "log.db"),
      projections,
      tailLimits: { ...defaultTailLimits, backlog: readerBound },
      ...(onDefect === undefined ? {} : { onDefect }),
    }),
  async verify(folder) {
    const database = new Database(join(folder, "log.db"));
    const answers = Array.from(database.each("PRAGMA integrity_check"), ([answer]) => answer);
    database.close();
    return answers.join("\n");
  },
};
