import { flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CorralError } from "@corral/protocol";
import { pino } from "pino";
import { startDaemon } from "./daemon.ts";
import { openJailDriver } from "./environments/jail/index.ts";
import { openSqliteLog } from "./log/sqlite/index.ts";
import { openProcessHost } from "./runner/process/index.ts";
import { isBundled, version } from "./version.ts";

/** The exit code of a daemon that finds its home taken by another. */
const homeTaken = 75;

const { values } = parseArgs({
  options: { home: { type: "string" }, port: { type: "string" }, json: { type: "boolean" } },
});
const { home } = values;
if (home === undefined) throw new Error("the daemon needs --home");

const logger = pino(pino.destination({ dest: 2, sync: true }));

try {
  const daemon = await startDaemon({
    home,
    port: values.port === undefined ? undefined : Number(values.port),
    version,
    dashboard: dashboardFolder(),
    variables: process.env,
    logger,
    openLog: (file, projections) => openSqliteLog({ file, projections }),
    openHost: (size) =>
      openProcessHost({
        entry: runnerEntry(),
        home,
        size,
        onDefect: (what) => logger.error(what),
      }),
    driver: openJailDriver({ home }),
  });
  process.stdout.write(
    `${values.json === true ? JSON.stringify(daemon.info) : `Corral serves at ${daemon.info.url}`}\n`,
  );
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void daemon.stop());
  flushCompileCache();
  await daemon.stopped;
  process.exit(0);
} catch (error) {
  const problem = error instanceof CorralError ? error : new CorralError("internal", String(error), { cause: error });
  process.stderr.write(`${JSON.stringify(problem.toProblem())}\n`);
  process.exit(problem.code === "daemon.running" ? homeTaken : 1);
}

function runnerEntry(): string {
  return fileURLToPath(new URL(isBundled ? "./runner.js" : "./runner-main.ts", import.meta.url));
}

/** The build puts it beside the bundle; from the sources it is looked for there too. */
function dashboardFolder(): string {
  return fileURLToPath(new URL(isBundled ? "./dashboard" : "../../../dist/dashboard", import.meta.url));
}
