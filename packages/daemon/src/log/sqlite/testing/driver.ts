import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogDriver } from "../../conformance/fixture.ts";
import { defaultTailLimits } from "../../tail.ts";
import { integrityOf } from "../integrity.ts";
import { openSqliteLog } from "../open.ts";
import { restore } from "../restore.ts";

/** The SQLite log as the conformance suite, and the processes it starts, open it. */
export const driver: LogDriver = {
  open: ({ folder, readerBound = defaultTailLimits.backlog, ...options }) =>
    openSqliteLog({
      file: join(folder, "log.db"),
      tailLimits: { ...defaultTailLimits, backlog: readerBound },
      ...options,
    }),
  async verify(folder) {
    const faults = await integrityOf(join(folder, "log.db"));
    return faults.length === 0 ? "ok" : faults.join("\n");
  },
  async restore(backup, folder) {
    await restore(backup, join(folder, "log.db"));
  },
  async remains(folder) {
    const files = (await readdir(folder)).filter((name) => name.startsWith("log.db"));
    return Buffer.concat(await Promise.all(files.map((name) => readFile(join(folder, name)))));
  },
};
