import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CorralError, type DaemonStatus, type DoctorReport } from "@corral/protocol";
import { startDaemon } from "./daemon.ts";
import { userConfigFile } from "./config/index.ts";
import { driversOf } from "./environments/index.ts";
import { engineFinder, openContainerDriver } from "./environments/container/index.ts";
import { openJailDriver } from "./environments/jail/index.ts";
import { openLocalDriver } from "./environments/local/index.ts";
import { keepLastWords, openLogging } from "./logging/index.ts";
import { beginSqliteLog, damagedBeside, isSuspect, type SetAside } from "./log/sqlite/index.ts";
import { openFolderStore } from "./storage/folder/index.ts";
import { endLeftRunners, openProcessHost } from "./runner/process/index.ts";
import { isBundled, version } from "./version.ts";

/** What the user tells all agents. */
const instructions = join(dirname(userConfigFile(process.env, homedir())), "AGENTS.md");

/** The exit code of a daemon that finds its home taken by another. */
const homeTaken = 75;

const { values } = parseArgs({
  options: {
    home: { type: "string" },
    port: { type: "string" },
    json: { type: "boolean" },
    /** Examines the machine, prints what was found and starts nothing. */
    probe: { type: "boolean" },
  },
});
const { home } = values;
if (home === undefined) throw new Error("the daemon needs --home");

if (values.probe === true) {
  process.stdout.write(`${JSON.stringify(await examineHere(home))}\n`);
  process.exit(0);
}

const logging = openLogging({
  home,
  variables: process.env,
  terminal: process.stderr.isTTY ? process.stderr : undefined,
});

const { logger, relay, hide, setLevel } = logging;
keepLastWords({ logger: logger.child({ component: "daemon" }), mask: logging.mask });

let hasStarted = false;
try {
  const daemon = await startDaemon({
    machine: {
      home,
      port: values.port === undefined ? undefined : Number(values.port),
      version,
      dashboard: dashboardFolder(),
      variables: process.env,
      logger,
      now: Date.now,
      hide,
      setLevel,
      databaseTroubles,
      doctor: () => examineHere(home),
    },
    openLog: (file, projections) =>
      beginSqliteLog({
        file,
        projections,
        onSetAside: tellSetAside,
        onDamage: (err) => logger.fatal({ component: "log", err }, "the database is damaged"),
      }),
    async openHost({ rehearsals, usualProvider, hidden, ...settings }) {
      await endLeftRunners(home);
      return openProcessHost({
        entry: runnerEntry(),
        home,
        ...settings,
        variables: {
          ...Object.fromEntries(hidden.map((name) => [name, undefined])),
          CORRAL_REHEARSALS: rehearsals,
          CORRAL_INSTRUCTIONS: instructions,
          CORRAL_WARM_PROVIDER: usualProvider,
        },
        onDefect: (what) => logger.error({ component: "runner" }, what),
        onWords: (pid, words) => logger.warn({ component: "runner", runner: pid }, words),
        onLine: relay,
      });
    },
    openStore: (name) => openFolderStore(join(home, "storage", name)),
    drivers: driversOf(
      openJailDriver({ home }),
      openContainerDriver({ home, findEngine: engineFinder(process.env) }),
      openLocalDriver({ home, variables: process.env }),
    ),
  });
  // Whoever reads that it serves may end it at once.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void daemon.stop());
  process.stdout.write(
    `${values.json === true ? JSON.stringify(daemon.info) : `Corral serves at ${daemon.info.url}`}\n`,
  );
  flushCompileCache();
  hasStarted = true;
  await daemon.stopped;
  process.exit(0);
} catch (error) {
  const problem = error instanceof CorralError ? error : new CorralError("internal", String(error), { cause: error });
  if (problem.code !== "daemon.running")
    logger.fatal(
      { component: "daemon", err: problem },
      hasStarted ? "the daemon did not stop cleanly" : "the daemon did not start",
    );
  process.stderr.write(values.json === true ? `${JSON.stringify(problem.toProblem())}\n` : complaint(problem));
  process.exit(problem.code === "daemon.running" ? homeTaken : 1);
}

/** Nobody may miss it: in the log, and to whoever started the daemon; status and doctor tell until the file is removed. */
function tellSetAside({ file, reason }: SetAside): void {
  logger.fatal({ component: "log", reason, aside: file }, "a damaged database was set aside; the log begins empty");
  process.stderr.write(
    `warning: ${reason}\n` +
      `It was set aside as ${file}. Corral begins with an empty log; workspaces are as they were.\n` +
      `hint: \`corral export --from '${file.replaceAll("'", `'\\''`)}'\` gives what is readable of it; ` +
      `\`corral stop\` and \`corral backup restore FILE\` put a backup in its place\n`,
  );
}

function complaint({ message, hint }: CorralError): string {
  return `error: ${message}\n${hint === undefined ? "" : `hint: ${hint}\n`}`;
}

function runnerEntry(): string {
  return fileURLToPath(new URL(isBundled ? "./runner.js" : "./runner-main.ts", import.meta.url));
}

/** The build puts it beside the bundle; from the sources it is looked for there too. */
function dashboardFolder(): string {
  return fileURLToPath(new URL(isBundled ? "./dashboard" : "../../../dist/dashboard", import.meta.url));
}

/** A home that is not there yet is not made for it: the jail is then tried in a folder that goes again. */
async function examineHere(folder: string): Promise<DoctorReport> {
  const { examine } = await import("./doctor/index.ts");
  const { builtIn } = await import("./providers/index.ts");
  const passing = isWritable(folder) ? undefined : mkdtempSync(join(tmpdir(), "corral-doctor-"));
  try {
    return await examine({
      home: folder,
      variables: process.env,
      probe: () => openJailDriver({ home: passing ?? folder }).probe(),
      providers: Object.entries(builtIn).map(([name, { keyVariable }]) => ({ name, keyVariable })),
      database: databaseTroubles(join(folder, "corral.db")),
    });
  } finally {
    if (passing !== undefined) rmSync(passing, { recursive: true, force: true });
  }
}

function databaseTroubles(file: string): DaemonStatus["database"] {
  return { isSuspect: isSuspect(file), damaged: [...damagedBeside(file)] };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
