/**
 * The live lane: pieces of growing parts, unstored, beside the log.
 *
 * Invariants
 * 1. A subscriber hears each piece of a part once: first the text so far, then what came after it.
 *    So pieces that wait are handed out before anyone joins.
 * 2. The commit that closes a part discards its waiting pieces: the event repeats the whole, and no
 *    piece follows it.
 * 3. What is remembered is bounded, a part and in all, however many parts there are. A part that outgrows its bound
 *    loses its head; the offset tells.
 * 4. What waits is bounded: a flood is handed out at once instead of being gathered. The lane keeps nothing for a
 *    subscriber; one that is slow is its own to drop.
 */
import { type Delta, isEndOf, isKnown, type SessionId, type StoredEvent } from "@corral/protocol";
import { Listeners } from "./listeners.ts";
import type { LiveLane, Log } from "./port.ts";

export interface LiveOptions {
  readonly onDefect: (defect: unknown) => void;
  /** How long pieces are gathered. */
  readonly milliseconds?: number;
  /** Characters remembered of one part. */
  readonly partLimit?: number;
  /** Characters remembered of all parts; past it the oldest part is forgotten. */
  readonly totalLimit?: number;
  /** Characters gathered before they are handed out without waiting. */
  readonly waitingLimit?: number;
}

/** What a part costs besides its text, in characters. */
const partOverhead = 256;

export class CommitClosedLane implements LiveLane {
  readonly #milliseconds: number;
  readonly #partLimit: number;
  readonly #totalLimit: number;
  readonly #waitingLimit: number;
  readonly #onDefect: (defect: unknown) => void;
  readonly #listeners: Listeners<readonly Delta[]>;
  readonly #bySession = new Map<SessionId, { count: number; readonly listeners: Listeners<readonly Delta[]> }>();
  /** Open parts, the oldest first: each as one piece that reaches up to now. */
  readonly #open = new Map<string, Delta>();
  #remembered = 0;
  #waiting: Delta[] = [];
  #waitingSize = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, "onCommit">, options: LiveOptions) {
    this.#milliseconds = options.milliseconds ?? 4;
    this.#partLimit = options.partLimit ?? 1 << 20;
    this.#totalLimit = options.totalLimit ?? 1 << 26;
    this.#waitingLimit = options.waitingLimit ?? 1 << 18;
    this.#onDefect = options.onDefect;
    this.#listeners = new Listeners(options.onDefect);
    log.onCommit((events) => this.#close(events));
  }

  emit(delta: Delta): void {
    const news = unheard(this.#open.get(keyOf(delta)), delta);
    if (news === undefined) return;
    this.#remember(news);
    const last = this.#waiting.at(-1);
    if (last !== undefined && continues(last, news)) this.#waiting[this.#waiting.length - 1] = joined(last, news);
    else this.#waiting.push(news);
    this.#waitingSize += news.text.length + partOverhead;
    if (this.#waitingSize > this.#waitingLimit) return this.#flush();
    this.#timer ??= setTimeout(() => this.#flush(), this.#milliseconds).unref();
  }

  /** The text so far is handed over before this returns. */
  subscribe(filter: Parameters<LiveLane["subscribe"]>[0], listener: (deltas: readonly Delta[]) => void): () => void {
    this.#flush();
    const open = [...this.#open.values()];
    const { session } = filter;
    const soFar = session === undefined ? open : open.filter((delta) => delta.session === session);
    try {
      if (soFar.length > 0) listener(soFar);
    } catch (defect) {
      this.#listeners.report(defect);
    }
    return session === undefined ? this.#listeners.add(listener) : this.#addTo(session, listener);
  }

  #addTo(session: SessionId, listener: (deltas: readonly Delta[]) => void): () => void {
    const group = this.#bySession.get(session) ?? { count: 0, listeners: new Listeners(this.#onDefect) };
    this.#bySession.set(session, group);
    group.count += 1;
    const remove = group.listeners.add(listener);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      remove();
      group.count -= 1;
      if (group.count === 0) this.#bySession.delete(session);
    };
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const deltas = this.#waiting;
    this.#waiting = [];
    this.#waitingSize = 0;
    if (deltas.length === 0) return;
    this.#listeners.tell(deltas);
    if (this.#bySession.size === 0) return;
    // Divided once, however many listen.
    for (const [session, own] of Map.groupBy(deltas, (delta) => delta.session)) {
      this.#bySession.get(session)?.listeners.tell(own);
    }
  }

  #remember(news: Delta): void {
    const key = keyOf(news);
    const before = this.#open.get(key);
    const whole = before !== undefined && continues(before, news) ? joined(before, news) : news;
    const kept = whole.text.length > this.#partLimit ? beheaded(whole, this.#partLimit / 2) : whole;
    this.#open.set(key, kept);
    this.#remembered += sizeOf(kept) - (before === undefined ? 0 : sizeOf(before));
    for (const [oldest, part] of this.#open) {
      if (this.#remembered <= this.#totalLimit || oldest === key) break;
      this.#open.delete(oldest);
      this.#remembered -= sizeOf(part);
    }
  }

  #close(events: readonly StoredEvent[]): void {
    if (this.#open.size === 0) return;
    for (const event of events) {
      const ends = isKnown(event) ? endedBy(event) : undefined;
      if (ends !== undefined) this.#forget(ends);
    }
  }

  #forget(ends: (delta: Delta) => boolean): void {
    for (const [key, delta] of this.#open) {
      if (!ends(delta)) continue;
      this.#open.delete(key);
      this.#remembered -= sizeOf(delta);
    }
    this.#waiting = this.#waiting.filter((delta) => !ends(delta));
  }
}

/** Which parts an event ends; a stream of a session is named by the session's id. */
function endedBy(event: StoredEvent): ((delta: Delta) => boolean) | undefined {
  if (isEndOf("call", event)) {
    const { id } = event.data;
    return (delta) => delta.part === id;
  }
  switch (event.type) {
    case "turn.said": {
      const { part } = event.data;
      return (delta) => delta.part === part;
    }
    // A new attempt says everything anew, under new parts.
    case "turn.dispatched":
    case "turn.settled":
      return (delta) => delta.session === event.stream && (delta.kind === "text" || delta.kind === "reasoning");
    case "activity.settled":
    case "stream.erased":
      return (delta) => delta.session === event.stream;
    default:
      // Other events close nothing that grows.
      return undefined;
  }
}

function keyOf(delta: Delta): string {
  return `${delta.part} ${delta.kind}`;
}

/** The part of a piece that lies beyond what was heard; undefined for a mere repeat. */
function unheard(before: Delta | undefined, delta: Delta): Delta | undefined {
  const known = before === undefined ? 0 : endOf(before) - delta.offset;
  if (known <= 0) return delta.text === "" ? undefined : delta;
  if (known >= delta.text.length) return undefined;
  return { ...delta, offset: delta.offset + known, text: delta.text.slice(known) };
}

function continues(before: Delta, after: Delta): boolean {
  return keyOf(before) === keyOf(after) && endOf(before) === after.offset;
}

function joined(before: Delta, after: Delta): Delta {
  return { ...before, text: before.text + after.text };
}

function sizeOf(part: Delta): number {
  return part.text.length + partOverhead;
}

function endOf(delta: Delta): number {
  return delta.offset + delta.text.length;
}

/** The last `keep` characters, not starting inside one that takes two units. */
function beheaded(delta: Delta, keep: number): Delta {
  const cut = delta.text.length - keep;
  const unit = delta.text.charCodeAt(cut);
  const start = unit >= 0xdc00 && unit <= 0xdfff ? cut + 1 : cut;
  return { ...delta, offset: delta.offset + start, text: delta.text.slice(start) };
}
