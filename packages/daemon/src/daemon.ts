import { CorralError, type DaemonInfo } from "@corral/protocol";
import type { Logger } from "pino";
import type { EnvironmentDriver } from "./environments/index.ts";
import { openGateway } from "./gateway/index.ts";
import { lockHome, openHome, ownerToken, removeDaemonInfo, writeDaemonInfo } from "./home/index.ts";
import type { Log, Projection } from "./log/index.ts";
import { openProjects, projectProjections } from "./projects/index.ts";
import { endEnvironments, openForeman, type RunnerHost, sweepEnvironments } from "./runner/index.ts";
import { openSessions, sessionProjections } from "./sessions/index.ts";

/** The parts a daemon is put together from; `main.ts` chooses the drivers. */
export interface DaemonParts {
  readonly home: string;
  readonly port: number;
  readonly version: string;
  /** The folder with the built dashboard. */
  readonly dashboard: string;
  readonly defaultModel: string;
  readonly logger: Logger;
  openLog(file: string, projections: readonly Projection[]): Promise<Log>;
  openHost(): RunnerHost;
  readonly driver: EnvironmentDriver;
}

export interface Daemon {
  readonly info: DaemonInfo;
  readonly token: string;
  /** Drains by the deadline (at once with `now`) and leaves everything saved. Repeated calls join. */
  stop(how?: { readonly now?: boolean }): Promise<void>;
  readonly stopped: Promise<void>;
}

const drainMs = 5_000;

/** Ending processes is quick; folders that take longer are removed after the next start. */
const lastSweepMs = 3_000;

/** Starts everything in order: the lock first, `daemon.json` last. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { logger, version } = parts;
  const home = openHome(parts.home);
  const lock = lockHome(home);
  const token = ownerToken(home);
  const log = await parts.openLog(home.database, [...projectProjections, ...sessionProjections]);
  const onDefect = (what: string, error?: unknown) => logger.error({ err: error }, what);
  const onFailure = (name: string, error: unknown) => onDefect(`what is left of ${name} stays`, error);
  const foreman = openForeman({ log, host: parts.openHost(), onDefect });
  const stopped = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const enough = new AbortController();
  let swept = Promise.resolve();
  const stop = (how: { readonly now?: boolean } = {}) => (stopping ??= shutDown(how.now === true));
  const gateway = await openGateway({
    log,
    sessions: openSessions(log, { defaultModel: parts.defaultModel, mayOpen: () => mustBeJailed(parts.driver) }),
    projects: openProjects(log),
    token,
    version,
    dashboard: parts.dashboard,
    port: parts.port,
    onStop: (now) => void stop({ now }),
  });
  const info: DaemonInfo = { url: gateway.url, pid: process.pid, version };
  await foreman.begin();
  writeDaemonInfo(home, info);
  logger.info({ url: info.url }, "the daemon serves");
  swept = sweepEnvironments(log, parts.driver, { onFailure, signal: enough.signal });
  return { info, token, stop, stopped: stopped.promise };

  async function shutDown(now: boolean): Promise<void> {
    logger.info({ now }, "the daemon stops");
    removeDaemonInfo(home);
    await foreman.stop(now ? 0 : drainMs);
    enough.abort();
    await swept;
    await endEnvironments(log, parts.driver, { which: now ? "all" : "resting", onFailure });
    // A runner may have been in the middle of opening one.
    await sweepEnvironments(log, parts.driver, { onFailure, signal: AbortSignal.timeout(lastSweepMs) });
    await gateway.close();
    await log.close();
    lock.release();
    stopped.resolve();
  }
}

/** No session is made on a machine that cannot wall it in. */
async function mustBeJailed(driver: EnvironmentDriver): Promise<void> {
  const probe = await driver.probe();
  if (!probe.ok) throw new CorralError("jail.unavailable", probe.reason, { hint: probe.fix });
}
