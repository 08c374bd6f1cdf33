import { homedir } from "node:os";
import { join } from "node:path";
import {
  CorralError,
  type DaemonInfo,
  type DaemonStatus,
  type DoctorReport,
  type ModelFacts,
  type SessionId,
  type SettingValues,
} from "@corral/protocol";
import type { Logger } from "pino";
import { artifactProjections, keepForRuns, openArtifacts } from "./artifacts/index.ts";
import { openAudit } from "./audit/index.ts";
import { openBackups } from "./backups/index.ts";
import { openCapabilities } from "./capabilities/index.ts";
import type { Provisions } from "./capabilities/port.ts";
import { type Config, openConfig, userConfigFile } from "./config/index.ts";
import { type Credentials, keysFinding, openCredentials, reachable, unreadableKeys } from "./credentials/index.ts";
import { egressProjections, openEgress } from "./egress/index.ts";
import { mustHaveDescriptors } from "./descriptors/index.ts";
import { type EnvironmentDrivers, limitsFrom, openTrials, type UsualContainer, wishOf } from "./environments/index.ts";
import { endLeftJails } from "./git/index.ts";
import { openHeldBack } from "./held-back/index.ts";
import { openGateway, openMeter, requestProjections } from "./gateway/index.ts";
import { diskUse, lockHome, openHome, ownerToken, removeDaemonInfo, writeDaemonInfo } from "./home/index.ts";
import type { Log, Projection } from "./log/index.ts";
import { openProjects, projectProjections, readSettingsFile } from "./projects/index.ts";
import { openPermits } from "./permits/index.ts";
import { openQuestions, questionProjections } from "./questions/index.ts";
import {
  foundRules,
  openRules,
  projectRulesFile,
  ruleProjections,
  type Rules,
  rulesFinding,
  userRulesFile,
} from "./rules/index.ts";
import { modelProjections, openModels } from "./models/index.ts";
import { type FindReach, listAll, type ProviderSettings } from "./providers/index.ts";
import { openRetention } from "./retention/index.ts";
import {
  cutPartsFolder,
  endEnvironments,
  endEnvironmentsAtRest,
  endEnvironmentsOf,
  openForeman,
  openRemoval,
  removeCutParts,
  placeLimitsFrom,
  type RunnerHost,
  sweepEnvironments,
} from "./runner/index.ts";
import { openSessions, sessionProjections, type Sessions } from "./sessions/index.ts";
import { openShells, shellProjections } from "./shells/index.ts";
import { keepScrollbacks, openSessionTerminals, terminalProjections } from "./terminals/index.ts";
import type { Store } from "./storage/index.ts";
import { maskedLog, type Secret, Secrets, secretsInVariables } from "./secrets/index.ts";
import { openTokens, tokenProjections } from "./tokens/index.ts";
import { openUsage, usageProjections } from "./usage/index.ts";
import {
  isShell,
  openRoom,
  openSnapshots,
  openSpares,
  openWorkspaces,
  snapshotProjections,
  sparesFolder,
  workspaceProjections,
} from "./workspaces/index.ts";

/** The parts a daemon is put together from; `main.ts` chooses the drivers. */
export interface DaemonParts {
  readonly home: string;
  /** Wins over the settings. */
  readonly port: number | undefined;
  readonly version: string;
  /** The folder with the built dashboard. */
  readonly dashboard: string;
  /** The environment that the daemon was started in. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Each part gets a child of its own. */
  readonly logger: Logger;
  /** Told what must be in no line of the logs. */
  readonly hide: (secret: string) => void;
  /** How much is written, by the logger and by its children. */
  readonly setLevel: (level: string) => void;
  openLog(file: string, projections: readonly Projection[]): Promise<Log>;
  /** What is, or was, wrong with the database. */
  databaseTroubles(file: string): DaemonStatus["database"];
  openHost(settings: {
    readonly size: number;
    readonly level: string;
    readonly rehearsals: string;
    /** How the provider of a model is reached. */
    readonly reach: FindReach;
    /** What is masked in all that runners record and say. */
    readonly secrets: Secrets;
    /** The provider that is asked the most, for which runners may make ready. */
    readonly usualProvider: string;
    /** Variables of the daemon's environment that are not for runners. */
    readonly hidden: readonly string[];
    /** To be called when a runner process has ended. */
    readonly onEnded: () => void;
  }): Promise<RunnerHost>;
  readonly drivers: EnvironmentDrivers;
  /** The store of this name, which is for one slice alone. */
  openStore(name: string): Promise<Store>;
  /** Examines the machine. */
  doctor(): Promise<DoctorReport>;
}

export interface Daemon {
  readonly info: DaemonInfo;
  readonly token: string;
  /** Drains by the deadline (at once with `now`) and leaves everything saved. Repeated calls join, and `now` hurries. */
  stop(how?: { readonly now?: boolean }): Promise<void>;
  readonly stopped: Promise<void>;
}

const projections = [
  ...projectProjections,
  ...sessionProjections,
  ...shellProjections,
  ...terminalProjections,
  ...workspaceProjections,
  ...snapshotProjections,
  ...tokenProjections,
  ...modelProjections,
  ...usageProjections,
  ...requestProjections,
  ...egressProjections,
  ...artifactProjections,
  ...questionProjections,
  ...ruleProjections,
];
/** Ending processes is quick; folders that take longer are removed after the next start. */
const lastSweepMs = 3_000;
const cleanUpMs = 3_600_000;

/** Starts everything in order: the lock first, `daemon.json` last. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { version } = parts;
  const logger = parts.logger.child({ component: "daemon" });
  const ground = await openGround(parts);
  const { home, lock, token, secrets, meter, log, tokens, projects, config, rules } = ground;
  const onEnvironmentDefect = complainingTo(parts.logger.child({ component: "environments" }));
  const onFailure = (name: string, error: unknown) => onEnvironmentDefect(`what is left of ${name} stays`, error);
  const { credentials, models, lookAtModels, host } = await openThinking(parts, ground);
  const { newOwner } = parts.drivers.of("jail");
  const egress = openEgress({
    log,
    home: home.folder,
    hasOtherUsers: newOwner !== undefined,
    list: (place) => permits.hostsFor(place),
    isHeld: (place, target) => permits.isHeld(place, target),
    ask: (place, target, signal) => permits.mayReach(place, target, signal),
    onDefect: complainingTo(parts.logger.child({ component: "egress" })),
  });
  const onArtifactDefect = complainingTo(parts.logger.child({ component: "artifacts" }));
  const artifacts = await openArtifacts({
    log,
    store: await parts.openStore("artifacts"),
    home: home.folder,
    terms: () => ({
      maxBytes: config.values["artifacts.maxBytes"],
      sessionMaxBytes: config.values["artifacts.sessionMaxBytes"],
      days: config.values["artifacts.days"],
    }),
    onDefect: onArtifactDefect,
  });
  const room = openRoom({
    home: home.folder,
    most: () => bytesOf(config.values["workspace.totalMb"]),
  });
  const trials = openTrials({ drivers: parts.drivers });
  const sessions = openSessions(log, {
    defaults: (project) => config.valuesFor(project),
    async environment(asked, workspace) {
      const wish = wishOf(asked, usualContainer(config.values));
      // No session is made on a machine that cannot wall it in as it is to be.
      await trials.mustOpen(wish);
      if (workspace === "copy") await room.mustBeLeft();
      return wish;
    },
    mustReach: (model) => credentials.mustReach(model),
    mustThink: (model) => mustThink(model, models.facts(model)),
    fork: (snapshot, to) => snapshots.fork(snapshot, to),
    standings: () => foreman.standings(),
  });
  const questions = openQuestions({
    log,
    onAnswer: (asked, answer, by) => permits.keepAlways(asked, answer, by),
    onDefect: complainingTo(parts.logger.child({ component: "questions" })),
  });
  const heldBack = openHeldBack({
    log,
    home: home.folder,
    onDefect: complainingTo(parts.logger.child({ component: "held-back" })),
  });
  const capabilities = openCapabilities();
  const foreman = openForeman({
    log,
    host,
    secrets,
    sessions,
    capabilities,
    cutParts: cutPartsFolder(home.folder),
    limits: () => limitsFrom(config.values),
    placeLimits: () => placeLimitsFrom(config.values),
    closeEnvironment: (session) => endEnvironmentsAtRest(session, log, parts.drivers),
    mustHaveDescriptors,
    onDefect: complainingTo(parts.logger.child({ component: "foreman" })),
  });
  config.onChange(() => foreman.look());
  const scrollbacks = keepScrollbacks(artifacts, { secrets });
  const shells = openShells({
    log,
    home: home.folder,
    drivers: parts.drivers,
    scrollbacks,
    artifacts,
    secrets,
    waysOut: egress,
    limits: () => limitsFrom(config.values),
    usualContainer: () => usualContainer(config.values),
    snapshotted: (shell) => snapshots.settled(shell),
    onDefect: complainingTo(parts.logger.child({ component: "shells" })),
  });
  const permits = openPermits({ log, home: home.folder, config, rules, sessions, shells, questions });
  const terminals = openSessionTerminals({
    log,
    drivers: parts.drivers,
    scrollbacks,
    openEnvironment: (session) => foreman.open(session),
    onDefect: complainingTo(parts.logger.child({ component: "terminals" })),
  });
  const onWorkspaceDefect = complainingTo(parts.logger.child({ component: "workspaces" }));
  const spares = openSpares({
    folder: sparesFolder(home.folder),
    newOwner,
    wanted: () => config.values["workspace.spare"],
    onDefect: onWorkspaceDefect,
  });
  const workspaces = openWorkspaces({
    log,
    home: home.folder,
    spares,
    endEnvironments: (session) => endAllIn(session, "its workspace went"),
    beforeRemoval: (session) => snapshots.beforeRemoval(session),
    terms: () => ({
      idleDays: config.values["workspace.idleDays"],
      discardedDays: config.values["workspace.discardedDays"],
    }),
    onDefect: onWorkspaceDefect,
  });
  const snapshots = openSnapshots({
    log,
    home: home.folder,
    store: await parts.openStore("snapshots"),
    terms: async (project) => snapshotTerms(await config.valuesFor(project)),
    async atRest(occupant, work) {
      const reason = "its files were restored";
      if (isShell(occupant)) return shells.atRest(occupant, reason, work);
      await endAllIn(occupant, reason);
      return work();
    },
    inTurn: (occupant, work) => workspaces.inTurn(occupant, work),
    onDefect: complainingTo(parts.logger.child({ component: "snapshots" })),
  });
  // None is left out, or this is no `Provisions`.
  const provisions: Provisions = {
    ...permits.provides,
    ...snapshots.provides,
    ...egress.provides,
    ...keepForRuns(artifacts, { secrets, onDefect: onArtifactDefect }),
  };
  capabilities.provide(provisions);
  const removal = openRemoval({
    log,
    drivers: parts.drivers,
    closeTerminals: (session) => terminals.closeAll(session),
    removeFiles: async (session) => {
      removeCutParts(cutPartsFolder(home.folder), session);
      heldBack.remove(session);
      await artifacts.removeOf(session);
      await workspaces.remove(session);
      await snapshots.remove(session);
    },
    onFailure,
  });
  const retention = openRetention({
    log,
    terms: () => ({ days: config.values["retention.days"], events: config.values["retention.events"] }),
    expire: (session) => removal.expire(session),
    onDefect: complainingTo(parts.logger.child({ component: "retention" })),
  });
  config.onChange(() => void retention.look());
  const stopped = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const enough = new AbortController();
  let swept = Promise.resolve();
  let cleaned = Promise.resolve();
  const cleanings = setInterval(() => {
    void cleanUp();
    // Of runners that died, for instance: what is left of their environments.
    swept = swept.then(() => sweepEnvironments(log, parts.drivers, { onFailure, signal: enough.signal }));
  }, cleanUpMs);
  const hurry = new AbortController();
  const stop = (how: { readonly now?: boolean } = {}) => {
    if (how.now === true) hurry.abort();
    return (stopping ??= shutDown());
  };
  const gateway = await openGateway({
    log,
    sessions,
    workspaces,
    artifacts,
    snapshots,
    removal,
    shells,
    terminals,
    projects,
    config,
    tokens,
    meter,
    egress,
    questions,
    rules,
    credentials,
    models,
    secrets,
    usage: openUsage({ log, projects: () => projectsOf(sessions) }),
    audit: openAudit(log),
    backups: openBackups({ log, folder: join(home.folder, "backups") }),
    runners: () => host.runners().length,
    version,
    dashboard: parts.dashboard,
    host: config.values["gateway.host"],
    port: config.values["gateway.port"],
    allowedHosts: config.values["gateway.allowedHosts"],
    logger: parts.logger.child({ component: "gateway" }),
    onStop: (now) => void stop({ now }),
    status,
    doctor: () => examine(parts, { credentials, rules }),
  });
  const info: DaemonInfo = { url: gateway.url, pid: process.pid, version };
  await workspaces.mend();
  await artifacts.mend();
  await snapshots.begin();
  await egress.begin();
  await questions.begin();
  await permits.keepWhatWasAnswered();
  await heldBack.begin();
  await foreman.begin();
  await shells.begin();
  await terminals.begin();
  writeDaemonInfo(home, info);
  logger.info({ url: info.url, version, capabilities: capabilities.names }, "the daemon serves");
  const onConfigDefect = complainingTo(parts.logger.child({ component: "config" }));
  projects.mend().catch((error: unknown) => onConfigDefect("half-written settings stay", error));
  config.watch().catch((error: unknown) => onConfigDefect("settings cannot be watched", error));
  swept = Promise.all([
    sweepEnvironments(log, parts.drivers, { onFailure, signal: enough.signal }),
    removal.sweep(enough.signal),
  ]).then(() => undefined);
  retention.begin();
  lookAtModels();
  await workspaces.begin();
  void cleanUp();
  return { info, token, stop, stopped: stopped.promise };

  /** What was on terminals is kept before they go with what they are in. */
  async function endAllIn(session: SessionId, reason: string): Promise<void> {
    await terminals.closeAll(session);
    await endEnvironmentsOf(session, log, parts.drivers, reason);
  }

  async function cleanUp(): Promise<void> {
    cleaned = Promise.all([workspaces.cleanUp().then(() => snapshots.expire()), artifacts.cleanUp()]).then(
      () => undefined,
    );
    await cleaned;
  }

  async function status(): Promise<DaemonStatus> {
    const shortage = foreman.shortage();
    return {
      ...info,
      home: home.folder,
      uptimeSeconds: process.uptime(),
      seq: await log.head(),
      sessions: await sessions.count(),
      places: foreman.places(),
      ...(shortage === undefined ? {} : { shortage }),
      runners: [...host.runners()],
      disk: diskUse(home),
      database: parts.databaseTroubles(home.database),
    };
  }

  async function shutDown(): Promise<void> {
    logger.info({ now: hurry.signal.aborted }, "the daemon stops");
    writeDaemonInfo(home, { ...info, stopping: true });
    shells.stop();
    terminals.stop();
    await foreman.stop(config.values.drainSeconds * 1000, hurry.signal);
    clearInterval(cleanings);
    await workspaces.close();
    await cleaned;
    await snapshots.close();
    await artifacts.close();
    await spares.close();
    await endLeftJails(home.folder);
    enough.abort();
    await swept;
    await retention.close();
    await endEnvironments(log, parts.drivers, { which: hurry.signal.aborted ? "all" : "resting", onFailure });
    // A runner may have been in the middle of opening one.
    await sweepEnvironments(log, parts.drivers, { onFailure, signal: AbortSignal.timeout(lastSweepMs) });
    await gateway.close();
    await egress.close();
    await heldBack.close();
    questions.close();
    tokens.close();
    meter.close();
    await config.close();
    await log.close();
    logger.info("the daemon has stopped");
    removeDaemonInfo(home);
    lock.release();
    stopped.resolve();
  }
}

type Ground = Awaited<ReturnType<typeof openGround>>;

/** What all else stands on: the home, which is this daemon's from here on, the log, who is let in, projects, settings and rules. */
async function openGround(parts: DaemonParts) {
  const home = openHome(parts.home);
  const lock = lockHome(home);
  const token = ownerToken(home);
  const { secrets, learn } = openSecrets(parts);
  learn({ name: "the owner's token", value: token });
  const meter = openMeter();
  const log = maskedLog(meter.measured(await parts.openLog(home.database, projections)), secrets);
  const tokens = await openTokens(log, { ownerSecret: token });
  const projects = openProjects(log);
  const config = await openConfig({
    log,
    projects,
    home: home.folder,
    userFile: userConfigFile(parts.variables, homedir()),
    variables: parts.variables,
    flags: parts.port === undefined ? {} : { "gateway.port": { name: "--port", value: parts.port } },
    onDefect: complainingTo(parts.logger.child({ component: "config" })),
  });
  const rules = openRules({
    log,
    userFile: userRulesFile(userConfigFile(parts.variables, homedir())),
    async projectFile(id) {
      const folder = await projects.folder(id);
      if (folder === undefined) return foundRules(projectRulesFile, { kind: "absent" });
      return foundRules(join(folder, projectRulesFile), await readSettingsFile(folder, projectRulesFile));
    },
  });
  return { home, lock, token, secrets, learn, meter, log, tokens, projects, config, rules };
}

/** What is learnt is masked from then on, and hidden from the daemon's log, whatever it is. */
function openSecrets({ variables, hide }: Pick<DaemonParts, "variables" | "hide">) {
  const secrets = new Secrets();
  const learn = (...news: readonly Secret[]) => {
    for (const { value } of news) hide(value);
    secrets.learn(...news);
  };
  learn(...secretsInVariables(variables));
  return { secrets, learn };
}

/** Who is asked and who asks: keys, models and runners. */
async function openThinking(parts: DaemonParts, { home, log, config, secrets, learn }: Ground) {
  const credentials = openCredentials({
    log,
    file: join(home.folder, "credentials.json"),
    variables: parts.variables,
    settings: () => providerSettings(config.values),
    learn,
  });
  await credentials.learn();
  const models = await openModels({
    log,
    own: () => config.values.models,
    reachable: async () => reachable(await credentials.list()),
    listed: () => listAll(["ollama", ...Object.keys(config.values["providers.compatible"])], credentials.reach),
  });
  const onModelDefect = complainingTo(parts.logger.child({ component: "models" }));
  const lookAtModels = () =>
    void models.look().catch((error: unknown) => onModelDefect("models could not be looked at", error));
  const host = await parts.openHost({
    size: config.values.runners,
    level: config.values["logs.level"],
    rehearsals: config.values["rehearsal.scripts"],
    secrets,
    reach: async (model) => ({ ...(await credentials.reach(model)), facts: models.facts(model) }),
    usualProvider: config.values.model.split("/")[0] ?? "",
    hidden: credentials.variables(),
    onEnded: () => void endLeftJails(home.folder),
  });
  credentials.onChange(() => host.forgetReaches());
  config.onChange(() => {
    void credentials.learn();
    host.forgetReaches();
    lookAtModels();
  });
  followLevel(config, (level) => {
    parts.setLevel(level);
    host.setLevel(level);
  });
  return { credentials, models, lookAtModels, host };
}

/** The machine, and what only a daemon knows of: its keys and its rules. */
async function examine(
  parts: DaemonParts,
  { credentials, rules }: { readonly credentials: Credentials; readonly rules: Rules },
): Promise<DoctorReport> {
  const { findings } = await parts.doctor();
  const keys = await credentials.list().then(keysFinding, (error: unknown) => unreadableKeys(error));
  const known = keys === undefined ? findings : findings.map((each) => (each.name === keys.name ? keys : each));
  return { findings: [...known, rulesFinding(await rules.problems())] };
}

/** Throws for a model of which it is not known that it thinks. */
function mustThink(model: string, { reasoning }: ModelFacts): void {
  if (reasoning === true) return;
  throw new CorralError("config.invalid", `${model} does not think before it answers, as far as is known.`, {
    hint: 'Leave out --effort, or say "reasoning": true of it in the setting models',
  });
}

function snapshotTerms(values: SettingValues) {
  return {
    days: values["snapshots.days"],
    most: values["snapshots.most"],
    ignored: values["snapshots.ignored"],
    largestFile: values["snapshots.largestMb"] * 2 ** 20,
  };
}

async function projectsOf(sessions: Sessions): Promise<ReadonlyMap<string, string>> {
  return new Map((await sessions.list()).map(({ id, projectId }) => [id, projectId]));
}

function providerSettings(values: SettingValues): ProviderSettings {
  return {
    patience: {
      answerMs: values["providers.firstByteSeconds"] * 1000,
      silenceMs: values["providers.silenceSeconds"] * 1000,
    },
    openai: { api: values["providers.openai.api"], stores: values["providers.openai.store"] },
    compatible: values["providers.compatible"],
  };
}

function bytesOf(mebibytes: number | null): number | null {
  return mebibytes === null ? null : mebibytes * 2 ** 20;
}

/** How much is written may be changed while the daemon runs. */
function followLevel(config: Config, setLevel: (level: string) => void): void {
  setLevel(config.values["logs.level"]);
  config.onChange((values) => setLevel(values["logs.level"]));
}

function complainingTo(logger: Logger): (what: string, error?: unknown) => void {
  return (what, error) => logger.error({ err: error }, what);
}

function usualContainer(values: SettingValues): UsualContainer {
  return { image: values["container.image"], volumes: values["container.volumes"] };
}
