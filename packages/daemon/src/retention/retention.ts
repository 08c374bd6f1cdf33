import type { SessionId, StoredEvent } from "@corral/protocol";
import { isGap, type Log } from "../log/index.ts";

/**
 * Removes what is older than the owner wants to keep, in the background.
 *
 * 1. Only sessions that have ended go, each as a whole: one in which anything happened lately, or in which there is something
 *    left to do, keeps everything.
 * 2. Projects, settings and tokens stay, for what they are follows from all their events. Of guesses and of requests
 *    sent with a key, nobody reads the events.
 * 3. How old an event is, is its approximate creation time's to say and settles nothing but this.
 * 4. Cut anywhere, the next look goes on from what the log says.
 */
export interface Retention {
  /** Looks now, and again every while. */
  begin(): void;
  /** Resolves when all that is too old by now is removed; those who ask meanwhile join. Never rejects. */
  look(): Promise<void>;
  /** Lets the step under way finish. */
  close(): Promise<void>;
}

export interface RetentionTerms {
  /** Null: whatever its age. */
  readonly days: number | null;
  /** Null: however many. */
  readonly events: number | null;
}

export interface RetentionOptions {
  readonly log: Log;
  readonly terms: () => RetentionTerms;
  readonly expire: (session: SessionId) => Promise<"expired" | "in-use">;
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
  readonly everyMs?: number;
}

/** Streams whose events nobody reads. */
const passing: ReadonlySet<string> = new Set(["gateway", "requests"]);
const dayMs = 24 * 3_600_000;

export function openRetention(options: RetentionOptions): Retention {
  const { log, terms, expire, onDefect, now = Date.now, everyMs = 3_600_000 } = options;
  const enough = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  return {
    begin() {
      void look();
      timer = setInterval(() => void look(), everyMs);
      timer.unref();
    },
    look,
    async close() {
      clearInterval(timer);
      enough.abort();
      await looking;
    },
  };

  async function look(): Promise<void> {
    if (enough.signal.aborted) return;
    await (looking ??= removeOld()
      .catch((error: unknown) => onDefect("what is too old stays", error))
      .finally(() => (looking = undefined)));
  }

  async function removeOld(): Promise<void> {
    const before = await firstKept(log, terms(), now());
    if (before <= 1) return;
    for (const row of await log.rows("sessions", { where: { open: 0 } })) {
      if (enough.signal.aborted) return;
      const session = row["key"] as SessionId;
      if (!(await happened(log, session, before))) await expireOne(session);
    }
    const removed = new Set((await log.rows("removed_sessions")).map((row) => row["key"] as string));
    if (!enough.signal.aborted)
      await log.trim({ before, keep: (stream) => !removed.has(stream) && !passing.has(stream) });
  }

  /** One that cannot be removed keeps nobody else. */
  async function expireOne(session: SessionId): Promise<void> {
    await expire(session).catch((error: unknown) => onDefect(`${session} stays, though it is too old`, error));
  }
}

/** The seq from which on everything is kept. */
async function firstKept(log: Log, { days, events }: RetentionTerms, now: number): Promise<number> {
  if (days === null && events === null) return 0;
  const head = await log.head();
  const byCount = events === null ? 0 : await log.newest(events);
  const byAge = days === null ? 0 : await firstSince(log, head, now - days * dayMs);
  return Math.max(byCount, byAge);
}

/** By halving: clocks are set back now and then, so this is about right, as the times are. */
async function firstSince(log: Log, head: number, time: number): Promise<number> {
  let [low, high] = [1, head + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await nextEvent(log, middle);
    if (found === undefined || Date.parse(found.approximateCreationTime) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first of those left, from this place on. */
async function nextEvent(log: Log, seq: number): Promise<StoredEvent | undefined> {
  const page = await log.read({ after: seq - 1, limit: 1 });
  return isGap(page) ? nextEvent(log, page.to + 1) : page[0];
}

async function happened(log: Log, session: SessionId, since: number): Promise<boolean> {
  const page = await log.read({ stream: session, after: since - 1, limit: 1 });
  return isGap(page) || page.length > 0;
}
