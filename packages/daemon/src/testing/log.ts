import { artifactProjections } from "../artifacts/index.ts";
import { egressProjections } from "../egress/index.ts";
import type { Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { projectProjections } from "../projects/index.ts";
import { requestProjections } from "../gateway/index.ts";
import { sessionProjections } from "../sessions/index.ts";
import { shellProjections } from "../shells/index.ts";
import { terminalProjections } from "../terminals/index.ts";
import { tokenProjections } from "../tokens/index.ts";

/** The log as the daemon opens it. */
export function openDaemonLog(file: string): Promise<Log> {
  return openSqliteLog({
    file,
    projections: [
      ...projectProjections,
      ...sessionProjections,
      ...shellProjections,
      ...terminalProjections,
      ...tokenProjections,
      ...requestProjections,
      ...egressProjections,
      ...artifactProjections,
    ],
  });
}
