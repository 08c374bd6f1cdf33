import {
  type ActivityState,
  CorralError,
  type DaemonStatus,
  type EnvironmentLimits,
  event,
  isEndOf,
  type NewEvent,
  type PlaceInLine,
  type ProjectId,
  type SessionId,
  type StoredEvent,
  type TraceId,
} from "@corral/protocol";
import { openCapabilities, type ProvidedCapabilities, RunScope } from "../capabilities/index.ts";
import { defaultLimits } from "../environments/index.ts";
import { fault, faultWith } from "../faults/index.ts";
import { historyOf, type Lease, type Log } from "../log/index.ts";
import { Secrets } from "../secrets/index.ts";
import {
  continuesWanted,
  countWaitingInAll,
  foldHistory,
  hasEligible,
  promote,
  type Sessions,
} from "../sessions/index.ts";
import { closeCutParts } from "./cut-parts.ts";
import { type PlaceLimits, Usher } from "./places/index.ts";
import {
  type Assignment,
  lostTo,
  notOpened,
  type Office,
  type RunEnd,
  type RunnerHost,
  type Running,
  type Shortage,
} from "./port.ts";
import { setAside } from "./set-aside.ts";

/**
 * The foreman sees to it that every session with something to do runs, once.
 *
 * 1. A session runs under a lease; taking it refuses whatever an earlier run still sends. The lease has no time of its
 *    own: a runner that does not answer is killed and its runs end as lost, and no second daemon can have the home.
 * 2. A wake is a hint and may come at any moment: one that a run had not heard when it ended starts another. The
 *    inbox and the log say what there is to do.
 * 3. A run that broke off is started anew after a pause that grows, from the second break on without company, so that
 *    one session's trouble does not become another's. One that keeps breaking without getting on is set aside: its
 *    activity ends as failed, where everybody can see it.
 * 4. A session that was removed is let go of: its run is told, and nothing starts it again.
 * 5. A run that broke off because the log takes nothing (a full disk) is no trouble of its session's: it is not counted, and
 *    tried again until the log takes it. No session with something to do is ever forgotten.
 *    A reply that the log refuses for another reason is set aside at once: asking for it again would end the same way, and cost the same.
 * 6. A run that broke off because descriptors have run out is tried again until there are some, and keeps its place meanwhile. Nothing is
 *    promoted until then.
 * 7. An activity goes on only in a session that has a place (`places/`). A session that has none stands in line, on record, and is
 *    woken when its turn has come; ending what was interrupted takes no place.
 */
export interface Foreman {
  /** Starts every session that has unfinished work. */
  begin(): Promise<void>;
  /** Has the session's environment opened, by its run, which is started for it. Rejects with why it cannot. */
  open(session: SessionId): Promise<void>;
  /** Where those stand that are in line for a place. */
  standings(): ReadonlyMap<SessionId, PlaceInLine>;
  places(): DaemonStatus["places"];
  /** Why sessions wait although they have a place. Undefined: none does. */
  shortage(): DaemonStatus["shortage"];
  /** The limits of places have changed. */
  look(): void;
  /** Brings all runs to rest by the deadline, or once the signal says that there is no time; nothing is started any more. */
  stop(deadlineMs: number, hurry?: AbortSignal): Promise<void>;
}

export interface ForemanOptions {
  readonly log: Log;
  readonly host: RunnerHost;
  readonly onDefect: (what: string, error?: unknown) => void;
  /** Who hears of words that were said again, for which there is no event. */
  readonly sessions?: Pick<Sessions, "onWake">;
  /** What environments opened from now on may use. */
  readonly limits?: () => EnvironmentLimits;
  /** How many may be at work at once. Without: as many as there are. */
  readonly placeLimits?: () => PlaceLimits;
  /** Closes the environment of a session at rest, for another. False: it is in use after all. */
  readonly closeEnvironment?: (session: SessionId) => Promise<boolean>;
  /** What runs can ask for. Without: all that they ask for is refused. */
  readonly capabilities?: Pick<ProvidedCapabilities, "for">;
  /** Where runners leave the words that they could not tell the end of. */
  readonly cutParts?: string;
  /** Throws `descriptors.exhausted` when no new work may begin. */
  readonly mustHaveDescriptors?: () => void;
  /** What no run may record. Without: there is none. */
  readonly secrets?: Secrets;
  /** Breaks in a row after which a session is set aside. */
  readonly patience?: number;
  readonly pauseMs?: (breaks: number) => number;
}

interface Post {
  running: Running | undefined;
  /** Wakes since the run began; those it had not heard at its end call for another. */
  wakes: number;
  readonly told: StoredEvent[];
  breaks: number;
  /** Who waits for the run, to have the environment opened. */
  readonly openings: PromiseWithResolvers<Running>[];
  /** Its session is no more. */
  removed: boolean;
  /** The log would not be written to in this run. */
  isStoreAtFault: boolean;
  /** The log refused to take a model's reply in this run. */
  isReplyRefused: boolean;
  /** It waits until there are descriptors again. */
  isShort: boolean;
  /** Why its activity is taken up again in the next run. */
  cutOff: string | undefined;
}

export function openForeman({ log, host, sessions, onDefect, ...options }: ForemanOptions): Foreman {
  const {
    limits = () => defaultLimits,
    capabilities = openCapabilities(),
    placeLimits = () => unlimited,
    closeEnvironment = () => Promise.resolve(false),
    mustHaveDescriptors = () => undefined,
    secrets = new Secrets(),
    patience = 5,
    pauseMs = (breaks: number) => Math.min(50 * 4 ** (breaks - 1), 10_000),
  } = options;
  const posts = new Map<SessionId, Post>();
  const timers = new Set<NodeJS.Timeout>();
  /** In the middle of an activity when the daemon began, and not taken up yet. */
  const found = new Set<SessionId>();
  let stopping = false;
  /** As the last one that met it said. */
  let shortage: Shortage | undefined;
  const usher = new Usher({ log, limits: placeLimits, close: closeEnvironment, wake, onDefect });
  const unlisten = log.onCommit((events) => {
    // Rules first: whoever is told of something judges by what holds now.
    if (events.length === 0 || events.some(mayChangeRules)) forgetRules();
    for (const each of events) {
      usher.notice(each);
      notice(each);
    }
  });
  const unwake = sessions?.onWake(wake);

  return {
    async begin() {
      await usher.begin();
      for (const row of await log.rows("sessions", { where: { open: 1 } })) found.add(row["key"] as SessionId);
      for (const session of await unfinished(log)) if (!usher.isInLine(session)) wake(session);
    },
    standings: () => usher.standings(),
    places: () => usher.status(),
    shortage() {
      const sessions = [...posts.values()].filter(({ isShort }) => isShort).length;
      return sessions === 0 || shortage === undefined ? undefined : { sessions, ...shortage };
    },
    look: () => usher.look(),
    async open(session) {
      await usher.ready(session);
      for (let tries = 1; ; tries++) {
        wake(session);
        const post = posts.get(session);
        if (post === undefined) throw notOpened({ kind: "drained" });
        const opening = Promise.withResolvers<Running>();
        if (post.running === undefined) post.openings.push(opening);
        else opening.resolve(post.running);
        const running = await opening.promise;
        try {
          return await running.open();
        } catch (error) {
          // One that came to rest at this very moment is followed by another.
          const end = await Promise.race([running.ended, Promise.resolve(undefined)]);
          if (tries === 3 || end?.kind !== "idle") throw error;
        }
      }
    },
    async stop(deadlineMs, hurry) {
      stopping = true;
      unlisten();
      unwake?.();
      for (const timer of timers) clearTimeout(timer);
      const drained = host.drain(hurry?.aborted === true ? 0 : deadlineMs);
      await (hurry === undefined ? drained : Promise.race([drained, abortOf(hurry)]));
      await host.close();
    },
  };

  function notice(stored: StoredEvent): void {
    if (isEndOf("question", stored)) return tell(stored.stream as SessionId, stored);
    if (isEndOf("session", stored)) {
      const post = posts.get(stored.stream as SessionId);
      if (post === undefined) return;
      post.removed = true;
      return tell(stored.stream as SessionId, stored);
    }
    switch (stored.type) {
      case "input.admitted":
      case "input.flipped":
      case "continue.asked":
      case "queue.resumed":
      case "session.unarchived":
        return wake(stored.stream as SessionId);
      case "activity.interrupt-requested":
      case "call.decided":
      case "activity.resumed":
        return tell(stored.stream as SessionId, stored);
      case "setup.decided":
      case "environment.closed":
      case "workspace.discarded":
      case "workspace.restored":
      case "workspace.cleared":
      case "workspace.prepared":
      case "terminal.opened":
      case "terminal.closed":
      case "artifact.announced":
      case "artifact.kept":
      case "artifact.expired":
        // What a run recorded itself it knows; one that begins later reads them from the log.
        if (stored.actor !== agentOf(stored.stream) && posts.has(stored.stream as SessionId))
          tell(stored.stream as SessionId, stored);
        return;
      case "turn.settled":
      case "activity.settled": {
        const post = posts.get(stored.stream as SessionId);
        if (post !== undefined) post.breaks = 0;
        return;
      }
      default:
      // A run records the other events itself, or does not need them.
    }
  }

  function forgetRules(): void {
    for (const { running } of posts.values()) running?.forgetRules();
  }

  function tell(session: SessionId, stored: StoredEvent): void {
    const post = posts.get(session);
    if (post === undefined) return wake(session);
    post.wakes += 1;
    if (post.running === undefined) post.told.push(stored);
    else post.running.tell(stored);
  }

  function wake(session: SessionId): void {
    if (stopping) return;
    const post = posts.get(session);
    if (post === undefined)
      return start(session, {
        running: undefined,
        wakes: 0,
        told: [],
        openings: [],
        breaks: 0,
        removed: false,
        isStoreAtFault: false,
        isReplyRefused: false,
        isShort: false,
        cutOff: found.delete(session) ? "the daemon had stopped" : undefined,
      });
    post.wakes += 1;
    post.running?.wake();
  }

  function start(session: SessionId, post: Post): void {
    posts.set(session, post);
    post.isStoreAtFault = false;
    post.isReplyRefused = false;
    run(session, post).then(
      (end) => finish(session, post, end),
      (error: unknown) => {
        noteFault(post, error);
        finish(session, post, lostTo(error, String(error)));
      },
    );
  }

  async function run(session: SessionId, post: Post): Promise<RunEnd> {
    // One that was removed while somebody thought of it has nothing to do.
    if ((await log.row("sessions", session)) === undefined) return { kind: "drained" };
    const lease = await log.takeLease(session, "runner");
    const scope = new RunScope(session, (error) => onDefect(`a run of ${session} left something behind`, error));
    try {
      const company = post.breaks > 1 ? "none" : "others";
      if (post.cutOff !== undefined) await tellRecovery(lease, post.cutOff);
      post.cutOff = undefined;
      await closeCutParts(log, lease, options.cutParts);
      const assignment = await assign(log, session, lease, { company, limits: limits() });
      const project = projectOf(assignment);
      usher.meet(session, project);
      const running = host.start(
        assignment,
        officeOf(log, assignment, lease, {
          scope,
          capabilities,
          secrets,
          onFailure: (error) => noteFault(post, error),
          onReplyRefused: () => (post.isReplyRefused = true),
          mayOpen: async () => (await usher.mayOpen(session, project)) && (await mayBegin(session, post)),
          claim: async () => (await usher.claim(session, project)) && mayGoOn(post),
          release: () => usher.release(session),
        }),
      );
      // What came before is in the history; what came since is told.
      post.wakes = post.told.length;
      post.running = running;
      for (const stored of post.told.splice(0)) running.tell(stored);
      for (const opening of post.openings.splice(0)) opening.resolve(running);
      return await running.ended;
    } finally {
      post.running = undefined;
      await scope.end();
      // A log that takes nothing takes them when the session goes on.
      await closeCutParts(log, lease, options.cutParts).catch(() => undefined);
      await log
        .releaseLease(lease)
        .catch((error: unknown) => onDefect(`the lease of ${session} was not released`, error));
    }
  }

  /** Only one that has something to do is kept waiting. */
  async function mayBegin(session: SessionId, post: Post): Promise<boolean> {
    try {
      return mayGoOn(post);
    } catch (error) {
      if (await hasEligible(log, session)) throw error;
      usher.release(session);
      return false;
    }
  }

  function mayGoOn(post: Post): true {
    mustHaveDescriptors();
    post.isShort = false;
    return true;
  }

  /** What is found in the middle of an activity is taken up again, where everybody can see it. */
  async function tellRecovery({ stream, fence }: Lease, reason: string): Promise<void> {
    const row = await log.row("sessions", stream);
    const state = JSON.parse((row?.["state"] as string | undefined) ?? "{}") as Partial<ActivityState>;
    if (state.state !== "thinking" || state.activityId === undefined) return;
    const told = event("activity.recovering", { id: state.activityId, reason });
    await log.append({ stream, actor: "corral", fence, events: [told] });
  }

  function finish(session: SessionId, post: Post, end: RunEnd): void {
    posts.delete(session);
    for (const opening of post.openings.splice(0)) opening.reject(notOpened(end));
    const goesOn = !stopping && !post.removed && end.kind === "idle" && post.wakes > end.heard;
    if (goesOn) return start(session, post);
    const isTriedAgain = end.kind === "lost" && !stopping && !post.removed;
    if (isTriedAgain && end.lacks !== undefined) return whenThereAreSome(session, post, end.lacks);
    post.isShort = false;
    usher.release(session);
    usher.part(session);
    if (isTriedAgain) again(session, post, end.reason);
  }

  /** It keeps its place: those behind it in line would not get further. */
  function whenThereAreSome(session: SessionId, post: Post, lacks: Shortage): void {
    posts.set(session, post);
    if (![...posts.values()].some(({ isShort }) => isShort)) onDefect(`sessions wait: ${lacks.message}`);
    shortage = lacks;
    post.isShort = true;
    later(session, post, pauseMs(3));
  }

  function again(session: SessionId, post: Post, reason: string): void {
    onDefect(`the run of ${session} broke off: ${reason}`);
    posts.set(session, post);
    post.cutOff = "the runner broke off";
    if (post.isStoreAtFault) return later(session, post, pauseMs(patience));
    post.breaks += 1;
    if (post.breaks < patience && !post.isReplyRefused) return later(session, post, pauseMs(post.breaks));
    post.wakes = 0;
    giveUp(session, reason).then(
      () => {
        posts.delete(session);
        if (post.wakes > 0 && !post.removed) wake(session);
      },
      (error: unknown) => {
        onDefect(`${session} could not be set aside`, error);
        later(session, post, pauseMs(patience));
      },
    );
  }

  function later(session: SessionId, post: Post, ms: number): void {
    if (stopping) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!post.removed) return start(session, post);
      posts.delete(session);
      usher.release(session);
    }, ms);
    timers.add(timer);
  }

  /** Its post stays taken meanwhile, so that nothing starts it; what is said to it from now on does, afterwards. */
  async function giveUp(session: SessionId, reason: string): Promise<void> {
    onDefect(`${session} is set aside`);
    const lease = await log.takeLease(session, "foreman");
    await closeCutParts(log, lease, options.cutParts);
    const { events } = await assign(log, session, lease, { company: "none", limits: limits() });
    const ending = setAside(foldHistory(events), reason);
    const by = { actor: "corral", ...traced(lastTrace(events)) };
    if (ending.length > 0) await log.append({ stream: session, ...by, fence: lease.fence, events: ending });
    await log.releaseLease(lease);
  }
}

/** What a rulebook is made of besides files: what was said "always" to, where the session works, its project's folder. Rather too much than too little. */
function mayChangeRules({ type }: StoredEvent): boolean {
  return /^(?:rule|project|session|workspace|stream)\./.test(type);
}

function noteFault(post: Post, error: unknown): void {
  if (error instanceof CorralError && ["log.full", "log.unwritable"].includes(error.code)) post.isStoreAtFault = true;
}

async function unfinished(log: Log): Promise<Set<SessionId>> {
  const open = await log.rows("sessions", { where: { open: 1 } });
  const waiting = await countWaitingInAll(log);
  return new Set([...open.map((row) => row["key"] as SessionId), ...waiting.keys(), ...(await continuesWanted(log))]);
}

async function assign(
  log: Log,
  session: SessionId,
  lease: Lease,
  terms: Pick<Assignment, "company" | "limits">,
): Promise<Assignment> {
  const events = await historyOf(log, session);
  const [created] = events;
  if (created?.type !== "session.created") throw new CorralError("not-found", `There is no session ${session}.`);
  const project = await log.row("projects", created.data.projectId satisfies ProjectId);
  const repository = created.data.worktree ?? (project?.["path"] as string | undefined) ?? "";
  return { session, fence: lease.fence, repository, events, ...terms };
}

function projectOf({ events: [created] }: Assignment): ProjectId {
  if (created?.type !== "session.created") throw new CorralError("internal", "a session begins with its creation");
  return created.data.projectId;
}

const unlimited: PlaceLimits = {
  "sessions.atOnce": Infinity,
  "sessions.atOncePerProject": Infinity,
  "environments.atOnce": Infinity,
  "environments.atOncePerProject": Infinity,
};

interface OfficeMeans {
  readonly scope: RunScope;
  readonly capabilities: Pick<ProvidedCapabilities, "for">;
  readonly secrets: Secrets;
  readonly onFailure: (error: unknown) => void;
  readonly onReplyRefused: () => void;
  readonly mayOpen: () => Promise<boolean>;
  readonly claim: () => Promise<boolean>;
  readonly release: () => void;
}

/** All that a run records is of the trace of the input it took up last. */
function officeOf(
  log: Log,
  { session, events: before }: Assignment,
  lease: Lease,
  { scope, capabilities, secrets, onFailure, onReplyRefused, mayOpen, claim, release }: OfficeMeans,
): Office {
  scope.traceId = lastTrace(before);
  let refusal: CorralError | undefined;
  const noted = async <T>(work: Promise<T>): Promise<T> => {
    work.catch(onFailure);
    return work;
  };
  return {
    ...capabilities.for(scope),
    async append(events) {
      const by = { actor: agentOf(session), ...traced(scope.traceId) };
      // Its runner had not heard of the secret. Masked here, the call would not be what runs.
      refusal ??= events.some((each) => each.type === "call.requested" && secrets.namesIn(each.data).length > 0)
        ? new CorralError("runner.lost", "A secret became known while the run was about to record it.")
        : undefined;
      if (refusal !== undefined) throw refusal;
      faultWith("office.appending", events);
      const appending = noted(log.append({ stream: session, ...by, fence: lease.fence, events }));
      scope.recorded = appending.then(
        () => undefined,
        (error: unknown) => {
          if (events.some(isOfReply) && !isPassing(error)) onReplyRefused();
        },
      );
      await appending;
      faultWith("office.appended", events);
    },
    async promote(place) {
      const opens = place.activity === undefined;
      if (opens && !(await mayOpen())) return { events: [], inputs: [] };
      const promotion = await noted(promote(log, lease, place));
      if (promotion.events.length > 0) scope.traceId = lastTrace(promotion.events);
      else if (opens) release();
      return promotion;
    },
    claimPlace: claim,
    emit(delta) {
      fault("office.delta");
      log.live.emit(delta);
    },
  };
}

function isOfReply({ type }: NewEvent): boolean {
  return type === "turn.said" || type === "turn.replied" || type === "call.requested";
}

/** Another run has the session, or the log takes nothing at all at the moment. */
function isPassing(error: unknown): boolean {
  return error instanceof CorralError && /^(?:log\.|lease\.)/.test(error.code);
}

function agentOf(session: string): string {
  return `agent:${session}`;
}

function lastTrace(events: readonly StoredEvent[]): TraceId | undefined {
  return events.findLast(({ type }) => type === "input.promoted" || type === "activity.opened")?.traceId;
}

function traced(traceId: TraceId | undefined): { readonly traceId?: TraceId } {
  return traceId === undefined ? {} : { traceId };
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
