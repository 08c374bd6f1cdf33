import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AdmitInput,
  createSession,
  type CreateSession,
  type DaemonStatus,
  environmentState,
  type EventType,
  type Judgement,
  type ModelFacts,
  newId,
  type PlaceLimit,
  type ProjectId,
  type SessionId,
  type SettingValues,
  type StoredEvent,
  type StoredEventOf,
  type TraceId,
} from "@corral/protocol";
import {
  artifactProjections,
  type Artifacts,
  type ArtifactTerms,
  keepForRuns,
  openArtifacts,
} from "../artifacts/index.ts";
import { openCapabilities } from "../capabilities/index.ts";
import { type AgentKind, openKinds } from "../kinds/index.ts";
import { openContext, openLoop } from "../kinds/loop/index.ts";
import { driversOf, type EnvironmentDrivers, wishOf } from "../environments/index.ts";
import { openJailDriver } from "../environments/jail/index.ts";
import { historyOf, isGap, type Log } from "../log/index.ts";
import type { Append, Projection } from "../log/port.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openProjects, projectProjections } from "../projects/index.ts";
import { openQuestions, questionProjections, type Questions } from "../questions/index.ts";
import { anthropic } from "../providers/anthropic/index.ts";
import { openProviders } from "../providers/index.ts";
import type { ProviderDriver } from "../providers/port.ts";
import { rehearsalDriver } from "../providers/rehearsal/index.ts";
import type { Call as RuleCall } from "../rules/index.ts";
import { endEnvironmentsAtRest, openForeman, openRemoval, type Removal } from "../runner/index.ts";
import { openInlineHost } from "../runner/inline/index.ts";
import { maskedLog, Secrets } from "../secrets/index.ts";
import { openSessions, type Sessions, sessionProjections } from "../sessions/index.ts";
import {
  keepScrollbacks,
  openSessionTerminals,
  type SessionTerminals,
  terminalProjections,
} from "../terminals/index.ts";
import { openFolderStore } from "../storage/folder/index.ts";
import { builtInTools, openRegistry, type Tool, type ToolRegistry } from "../tools/index.ts";
import { removeWorkspace } from "../workspaces/index.ts";
import { allowsEverything, judgedBy, reachesNothing, takesNoSnapshots } from "./capabilities.ts";
import { makeRepository } from "./repository.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model/index.ts";

/** A daemon without its gateway, in this process: real log, real jail, scripted model, inline runner. */
export interface TestDaemon extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly session: TestSession;
  readonly repository: string;
  readonly home: string;
  readonly registry: ToolRegistry;
  readonly removal: Removal;
  /** How many sessions somebody has in hands. */
  running(): number;
  readonly questions: Questions;
  readonly terminals: SessionTerminals;
  readonly artifacts: Artifacts;
  /** What the foreman found wrong. */
  readonly defects: readonly string[];
  another(wish?: Partial<CreateSession>): Promise<TestSession>;
  /** One that was there before. */
  known(id: SessionId): TestSession;
  /** What has run out. */
  shortage(): DaemonStatus["shortage"];
  /** The limits have changed. */
  look(): void;
  /** Stops as `corral stop` does, keeping everything on disk. */
  stop(): Promise<void>;
}

export interface TestSession {
  readonly id: SessionId;
  /** Admits an input; the answer is the sessions slice's own. */
  prompt(text: string, more?: Partial<AdmitInput>, traceId?: TraceId): ReturnType<Sessions["admit"]>;
  /** The next event of the type (from the session's start on, the `nth` of them), as soon as it is committed. */
  until<T extends EventType>(type: T, nth?: number): Promise<StoredEventOf<T>>;
  events(): Promise<readonly StoredEvent[]>;
  /** Resolves when a delta holds the text. */
  outputs(text: string): Promise<void>;
}

export async function startTestDaemon(
  options: {
    wish?: Partial<CreateSession>;
    attempts?: number;
    settings?: Partial<SettingValues>;
    artifactTerms?: Partial<ArtifactTerms>;
    /** How many may be at work at once; may be changed, and is looked at anew after `look`. Without: as many as there are. */
    limits?: Partial<Record<PlaceLimit, number>>;
    /** Of agents, besides the loop; may be changed. */
    kinds?: Record<string, AgentKind>;
    /** Besides the built-in ones. */
    tools?: readonly Tool[];
    /** The files of its repository. */
    files?: Readonly<Record<string, string>>;
    /** What the user tells all agents. */
    personal?: () => string | undefined;
    backoffMs?: (attempt: number) => number;
    /** What is known of every model. */
    facts?: ModelFacts;
    /** Of models, besides the usual ones. */
    providers?: readonly ProviderDriver[];
    /** Without: every call may run. */
    judge?: (call: RuleCall) => Omit<Judgement, "parts">;
    /** Each environment is opened when it has resolved. */
    mayOpen?: () => Promise<void>;
    /** How long a run stays that waits for a person. */
    waitingMs?: number;
    /** Besides the usual ones. */
    projections?: readonly Projection[];
    /** What is masked. */
    secrets?: Secrets;
    /** What its runner knows of them, where that is not the same. */
    runnerSecrets?: Secrets;
    /** What the first version of Corral had recorded when it ended. */
    past?: (repository: string) => readonly Pick<Append, "stream" | "events">[];
  } = {},
): Promise<TestDaemon> {
  const folder = mkdtempSync(join(tmpdir(), "corral-test-"));
  const home = join(folder, "home");
  const repository = makeRepository(join(folder, "repository"), options.files);
  const model = await startScriptedModel();
  const projections = [
    ...projectProjections,
    ...sessionProjections,
    ...terminalProjections,
    ...artifactProjections,
    ...questionProjections,
    ...(options.projections ?? []),
  ];
  const file = join(folder, "corral.db");
  if (options.past !== undefined) await record(file, options.past(repository));
  const plain = await openSqliteLog({ file, projections });
  const log = options.secrets === undefined ? plain : maskedLog(plain, options.secrets);
  const known = [anthropic, rehearsalDriver({ home }), ...(options.providers ?? [])];
  const providers = openProviders(known, async (named) => ({
    driver: named.split("/")[0] ?? "",
    access: { key: "test-key", baseUrl: model.url },
    ...(options.facts === undefined ? {} : { facts: options.facts }),
  }));
  const defects: string[] = [];
  const jail = openJailDriver({ home });
  const open = jail.open.bind(jail);
  const openings: ReturnType<typeof open>[] = [];
  jail.open = async (plan) => {
    await options.mayOpen?.();
    const opening = open(plan);
    openings.push(opening);
    return opening;
  };
  const drivers = driversOf(jail);
  const registry = openRegistry([...builtInTools, ...(options.tools ?? [])]);
  const secrets = options.secrets ?? new Secrets();
  const loop = openLoop({
    findModel: (named) => providers.find(named),
    tools: registry,
    context: openContext({ personal: async () => options.personal?.() }),
    backoffMs: options.backoffMs ?? (() => 0),
    ...(options.attempts === undefined ? {} : { attempts: options.attempts }),
  });
  const host = openInlineHost({
    home,
    drivers,
    secrets: options.runnerSecrets ?? secrets,
    kinds: openKinds(Object.assign(options.kinds ?? {}, { loop })),
    ...(options.waitingMs === undefined ? {} : { waitingMs: options.waitingMs }),
  });
  const artifacts = await openArtifacts({
    log,
    store: await openFolderStore(join(home, "storage", "artifacts")),
    home,
    terms: () => ({ maxBytes: 1e9, sessionMaxBytes: 1e9, days: null, ...options.artifactTerms }),
    onDefect: (what) => void defects.push(what),
  });
  const sessions = openSessions(log, {
    defaults: () => Promise.resolve({ model: "anthropic/scripted", turnLimit: 25, ...options.settings }),
    environment: (asked) => Promise.resolve(wishOf(asked)),
  });
  const questions = openQuestions({ log, onDefect: (what) => void defects.push(what) });
  await questions.begin();
  const { judge } = options;
  const foreman = openForeman({
    log,
    host,
    secrets,
    sessions,
    capabilities: openCapabilities({
      ...(judge === undefined ? allowsEverything : judgedBy(judge)),
      ...reachesNothing,
      ...takesNoSnapshots,
      ...keepForRuns(artifacts, { secrets, onDefect: (what) => void defects.push(what) }),
    }),
    placeLimits: () => ({ ...manyPlaces, ...options.limits }),
    closeEnvironment: (session) => endEnvironmentsAtRest(session, log, drivers),
    pauseMs: () => 0,
    onDefect: (what) => void defects.push(what),
  });
  sessions.standingsFrom(foreman);
  const project = await openProjects(log).register({ path: repository }, { actor: "person:test" });
  await foreman.begin();
  const terminals = openSessionTerminals({
    log,
    drivers,
    scrollbacks: keepScrollbacks(artifacts),
    onDefect: (what) => void defects.push(what),
  });
  terminals.openVia(foreman);
  await terminals.begin();
  const another = (wish: Partial<CreateSession> = {}) => openTestSession(log, sessions, project.id, wish);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    terminals.stop();
    return (stopped ??= foreman.stop(5_000));
  };
  return {
    model,
    log,
    sessions,
    session: await another(options.wish),
    repository,
    home,
    registry,
    removal: openRemoval({
      log,
      drivers,
      closeTerminals: (session) => terminals.closeAll(session),
      removeFiles: async (session) => {
        await artifacts.removeOf(session);
        await removeWorkspace(home, session);
      },
      onFailure: (name) => void defects.push(`${name} stays`),
    }),
    artifacts,
    questions,
    running: () => host.runners().reduce((sum, runner) => sum + runner.sessions, 0),
    terminals,
    defects,
    another,
    known: (id) => testSession(log, sessions, id),
    shortage: () => foreman.shortage(),
    look: () => foreman.look(),
    stop,
    async [Symbol.asyncDispose]() {
      const closed = model.close();
      await stop();
      await closed;
      await artifacts.close();
      questions.close();
      await endEnvironments(log, drivers);
      // One that was being opened for nobody any more is on no record, and has nothing to be found by when its home is gone.
      await Promise.all(
        openings.map((opening) => opening.then((environment) => environment.end()).catch(() => undefined)),
      );
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a stop leaves to the next start, one with an open terminal for instance: there is none. */
async function endEnvironments(log: Log, drivers: Pick<EnvironmentDrivers, "reopen">): Promise<void> {
  for (const row of await log.rows("environments")) {
    const found = await drivers.reopen(environmentState.parse(JSON.parse(row["state"] as string)));
    if (found.kind === "open") await found.environment.end();
  }
}

const manyPlaces: Readonly<Record<PlaceLimit, number>> = {
  "sessions.atOnce": 1000,
  "sessions.atOncePerProject": 1000,
  "environments.atOnce": 1000,
  "environments.atOncePerProject": 1000,
};

async function openTestSession(
  log: Log,
  sessions: Sessions,
  projectId: ProjectId,
  wish: Partial<CreateSession>,
): Promise<TestSession> {
  const { id } = await sessions.create(createSession.parse({ projectId, ...wish }), { actor: "person:test" });
  return testSession(log, sessions, id);
}

/** Stored as a program stores it in which no type has changed yet. */
async function record(file: string, past: readonly Pick<Append, "stream" | "events">[]): Promise<void> {
  const log = await openSqliteLog({ file, projections: [], lifts: {} });
  for (const each of past) await log.append({ ...each, actor: "person:test" });
  await log.close();
}

function testSession(log: Log, sessions: Sessions, id: SessionId): TestSession {
  return {
    id,
    prompt: (text, more = {}, traceId) =>
      sessions.admit(
        id,
        { id: newId("input"), text, attachments: [], delivery: "steer", ...more },
        { actor: "person:test", ...(traceId === undefined ? {} : { traceId }) },
      ),
    events: () => historyOf(log, id),
    outputs: (text) =>
      new Promise((resolve) => {
        log.live.subscribe({ session: id }, (deltas) => {
          if (deltas.some((delta) => delta.text.includes(text))) resolve();
        });
      }),
    async until<T extends EventType>(type: T, nth = 1) {
      const enough = new AbortController();
      let seen = 0;
      try {
        for await (const batch of log.tail({ after: 0, stream: id }, enough.signal)) {
          for (const each of isGap(batch) ? [] : batch) {
            if (each.type === type && ++seen === nth) return each as unknown as StoredEventOf<T>;
          }
        }
      } finally {
        enough.abort();
      }
      throw new Error(`the log ended before ${type}`);
    },
  };
}
