import { CorralError, type DaemonInfo } from "@corral/protocol";
import type { Logger } from "pino";
import type { EnvironmentDriver } from "./environments/index.ts";
import { openGateway, openMeter, requestProjections } from "./gateway/index.ts";
import { lockHome, openHome, ownerToken, removeDaemonInfo, writeDaemonInfo } from "./home/index.ts";
import type { Log, Projection } from "./log/index.ts";
import { openProjects, projectProjections } from "./projects/index.ts";
import { endEnvironments, openForeman, type RunnerHost, sweepEnvironments } from "./runner/index.ts";
import { openSessions, sessionProjections } from "./sessions/index.ts";
import { openTokens, tokenProjections } from "./tokens/index.ts";

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
const projections = [...projectProjections, ...sessionProjections, ...tokenProjections, ...requestProjections];

/** Starts everything in order: the lock first, `daemon.json` last. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { logger, version } = parts;
  const home = openHome(parts.home);
  const lock = lockHome(home);
  const token = ownerToken(home);
  const meter = openMeter();
  const log = meter.measured(await parts.openLog(home.database, projections));
  const tokens = await openTokens(log, { ownerSecret: token });
  const onDefect = (what: string, error?: unknown) => logger.error({ err: error }, what);
  const host = parts.openHost();
  const foreman = openForeman({ log, host, onDefect });
  const stopped = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const stop = (how: { readonly now?: boolean } = {}) => (stopping ??= shutDown(how.now === true));
  const gateway = await openGateway({
    log,
    sessions: openSessions(log, { defaultModel: parts.defaultModel, mayOpen: () => mustBeJailed(parts.driver) }),
    projects: openProjects(log),
    tokens,
    meter,
    runners: () => host.processes,
    version,
    dashboard: parts.dashboard,
    port: parts.port,
    onStop: (now) => void stop({ now }),
    logger,
  });
  const info: DaemonInfo = { url: gateway.url, pid: process.pid, version };
  await sweepEnvironments(log, parts.driver);
  await foreman.begin();
  writeDaemonInfo(home, info);
  logger.info({ url: info.url }, "the daemon serves");
  return { info, token, stop, stopped: stopped.promise };

  async function shutDown(now: boolean): Promise<void> {
    logger.info({ now }, "the daemon stops");
    removeDaemonInfo(home);
    await foreman.stop(now ? 0 : drainMs);
    await endEnvironments(log, parts.driver, now ? "all" : "resting");
    await gateway.close();
    tokens.close();
    meter.close();
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
