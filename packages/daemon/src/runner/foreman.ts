import { CorralError, type ActivityId, type ProjectId, type SessionId, type StoredEvent } from "@corral/protocol";
import { historyOf, type Lease, type Log } from "../log/index.ts";
import { promote } from "../sessions/index.ts";
import type { Assignment, Office, RunEnd, RunnerHost, Running } from "./port.ts";

/**
 * The foreman sees to it that every session with something to do runs, once.
 *
 * 1. A session runs under a lease; taking it refuses whatever an earlier run still sends.
 * 2. A wake is a hint and may come at any moment: while a run is being started or is ending, it is kept
 *    and the session runs again. The inbox and the log say what there is to do.
 * 3. A run that broke off is started anew after a pause that grows; one that keeps breaking is set
 *    aside until the daemon starts again, and the others go on.
 */
export interface Foreman {
  /** Starts every session that has unfinished work. */
  begin(): Promise<void>;
  /** Brings all runs to rest by the deadline; nothing is started any more. */
  stop(deadlineMs: number): Promise<void>;
}

export interface ForemanOptions {
  readonly log: Log;
  readonly host: RunnerHost;
  readonly onDefect: (what: string, error?: unknown) => void;
  /** Breaks in a row after which a session is set aside. */
  readonly patience?: number;
  readonly pauseMs?: (breaks: number) => number;
}

interface Post {
  running: Running | undefined;
  /** Something happened that the run may not have seen. */
  woken: boolean;
  readonly told: StoredEvent[];
  breaks: number;
}

export function openForeman({ log, host, onDefect, ...options }: ForemanOptions): Foreman {
  const { patience = 5, pauseMs = (breaks: number) => Math.min(50 * 4 ** (breaks - 1), 10_000) } = options;
  const posts = new Map<SessionId, Post>();
  const timers = new Set<NodeJS.Timeout>();
  let stopping = false;
  const unlisten = log.onCommit((events) => {
    for (const each of events) notice(each);
  });

  return {
    async begin() {
      for (const session of await unfinished(log)) wake(session);
    },
    async stop(deadlineMs) {
      stopping = true;
      unlisten();
      for (const timer of timers) clearTimeout(timer);
      await host.drain(deadlineMs);
      await host.close();
    },
  };

  function notice(stored: StoredEvent): void {
    switch (stored.type) {
      case "input.admitted":
        return wake(stored.stream as SessionId);
      case "activity.interrupt-requested":
      case "call.decided":
      case "activity.resumed":
        return tell(stored.stream as SessionId, stored);
      case "activity.settled": {
        const post = posts.get(stored.stream as SessionId);
        if (post !== undefined) post.breaks = 0;
        return;
      }
      default:
    }
  }

  function tell(session: SessionId, stored: StoredEvent): void {
    const post = posts.get(session);
    if (post?.running !== undefined) return post.running.tell(stored);
    post?.told.push(stored);
    wake(session);
  }

  function wake(session: SessionId): void {
    if (stopping) return;
    const post = posts.get(session);
    if (post === undefined) return start(session, { running: undefined, woken: false, told: [], breaks: 0 });
    post.woken = true;
    post.running?.wake();
  }

  function start(session: SessionId, post: Post): void {
    posts.set(session, post);
    post.woken = false;
    run(session, post).then(
      (end) => finish(session, post, end),
      (error: unknown) => finish(session, post, { kind: "lost", reason: String(error) }),
    );
  }

  async function run(session: SessionId, post: Post): Promise<RunEnd> {
    const lease = await log.takeLease(session, "runner");
    try {
      const running = host.start(await assign(log, session, lease), officeOf(log, session, lease));
      post.running = running;
      for (const stored of post.told.splice(0)) running.tell(stored);
      return await running.ended;
    } finally {
      post.running = undefined;
      await log
        .releaseLease(lease)
        .catch((error: unknown) => onDefect(`the lease of ${session} was not released`, error));
    }
  }

  function finish(session: SessionId, post: Post, end: RunEnd): void {
    posts.delete(session);
    if (stopping) return;
    if (end.kind !== "lost") {
      if (post.woken && end.kind === "idle") start(session, post);
      return;
    }
    post.breaks += 1;
    onDefect(`the run of ${session} broke off: ${end.reason}`);
    if (post.breaks >= patience) return onDefect(`${session} is set aside: its run broke off ${post.breaks} times`);
    posts.set(session, post);
    const timer = setTimeout(() => {
      timers.delete(timer);
      start(session, post);
    }, pauseMs(post.breaks));
    timers.add(timer);
  }
}

async function unfinished(log: Log): Promise<Set<SessionId>> {
  const open = await log.rows("sessions", { where: { open: 1 } });
  const waiting = await log.rows("inputs", { where: { state: "waiting" } });
  return new Set([...open.map((row) => row["key"] as SessionId), ...waiting.map((row) => row["session"] as SessionId)]);
}

async function assign(log: Log, session: SessionId, lease: Lease): Promise<Assignment> {
  const events = await historyOf(log, session);
  const [created] = events;
  if (created?.type !== "session.created") throw new CorralError("not-found", `There is no session ${session}.`);
  const project = await log.row("projects", created.data.projectId satisfies ProjectId);
  return { session, fence: lease.fence, repository: (project?.["path"] as string | undefined) ?? "", events };
}

function officeOf(log: Log, session: SessionId, lease: Lease): Office {
  return {
    async append(events) {
      await log.append({ stream: session, actor: `agent:${session}`, fence: lease.fence, events });
    },
    promote: (activity) => promote(log, lease, activity as ActivityId | undefined),
    emit: (delta) => log.live.emit(delta),
  };
}
