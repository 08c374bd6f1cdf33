import { parseArgs } from "node:util";
import { openLoop } from "./agents/index.ts";
import { jailOwner, openJailDriver } from "./environments/jail/jail.ts";
import { openProviders } from "./providers/index.ts";
import type { ToRunner } from "./runner/process/messages.ts";
import { serveRuns } from "./runner/process/worker.ts";
import { openToolbox, shellTool } from "./tools/index.ts";

const { values } = parseArgs({ options: { home: { type: "string" } } });
const { home } = values;
if (home === undefined || process.send === undefined) throw new Error("a runner is started by the daemon");

/** A runner lives as long as its channel: commands in its environments go on without it. */
process.on("disconnect", () => process.exit(0));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => undefined);

serveRuns(
  {
    home,
    agent: openLoop({ findModel: openProviders(process.env).find, toolbox: openToolbox([shellTool]) }),
    driver: openJailDriver({ home }),
    owner: jailOwner(),
  },
  {
    send: (message) => process.send?.(message),
    onMessage: (listener) => process.on("message", (message) => listener(message as ToRunner)),
  },
);
