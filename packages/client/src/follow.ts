import {
  CorralError,
  type Delta,
  delta,
  errorStatus,
  type StreamFilter,
  type WireEvent,
  wireEvent,
} from "@corral/protocol";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { Heard } from "./heard.ts";
import { queryOf } from "./query.ts";
import type { Transport } from "./transport.ts";

/**
 * A stream that outlives its connections.
 *
 * 1. Every event after the cursor comes once, in seq order, however often the connection breaks: each
 *    new one asks after the last event given out, and what was given out is never given again.
 * 2. The text of a growing part comes once: a new connection begins with the text so far, of which only
 *    the unheard rest is given out.
 * 3. Only what asking again cannot mend is thrown.
 */
export interface FollowOptions extends StreamFilter {
  /** False: only events, no pieces of what is still growing. */
  readonly deltas?: boolean;
  /** The seq of the last event already known; 0 for all. */
  readonly after: number;
  readonly signal?: AbortSignal;
  /**
   * Told of each connection lost or not made, before the next attempt, which waits for it. It may
   * point the client elsewhere, and give up by throwing.
   */
  readonly onBreak?: (broken: Break) => void | Promise<void>;
  /** A connection that was silent for this long is taken for dead. Heartbeats come every 15 seconds. */
  readonly silenceMs?: number;
}

export interface Break {
  readonly error: CorralError;
  /** How many attempts in a row brought nothing. */
  readonly attempt: number;
  /** The seq of the last event given out. */
  readonly cursor: number;
}

export type Followed =
  | { readonly kind: "event"; readonly event: WireEvent }
  | { readonly kind: "delta"; readonly delta: Delta };

export async function* follow(
  transport: Transport,
  { after, signal, onBreak, silenceMs = 45_000, ...wish }: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const heard = new Heard();
  let cursor = after;
  let attempt = 0;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    let broken = endedEarly();
    try {
      for await (const message of connect(transport, pathOf(wish, cursor), silenceMs, signal)) {
        attempt = 0;
        const news = read(message, cursor, heard);
        if (news === undefined) continue;
        if (news.kind === "event") cursor = news.event.seq;
        yield news;
      }
    } catch (error) {
      if (isOver()) return;
      broken = mendable(error);
    }
    if (isOver()) return;
    attempt += 1;
    await onBreak?.({ error: broken, attempt, cursor });
    await pause(Math.min(50 * 2 ** (attempt - 1), 2_000), signal);
  }
}

/** The messages of one connection, until it ends or breaks. */
export async function* connect(
  transport: Transport,
  path: string,
  silenceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const over = new AbortController();
  const leave = () => over.abort();
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  let silence = setTimeout(leave, silenceMs);
  try {
    const headers = { accept: "text/event-stream" };
    const response = await transport.send({ method: "GET", path, signal: over.signal, headers });
    if (response.body === null) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const complete: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => complete.push(message) });
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(leave, silenceMs);
      parser.feed(decoder.decode(value, { stream: true }));
      yield* complete.splice(0);
    }
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener("abort", leave);
    leave();
  }
}

/** What a message tells that is new; nothing when it was heard before or is of a kind not known here. */
function read(message: EventSourceMessage, cursor: number, heard: Heard): Followed | undefined {
  if (message.event === "event") {
    const event = eventIn(message);
    if (event.seq <= cursor) return undefined;
    heard.note(event);
    return { kind: "event", event };
  }
  if (message.event !== "delta") return undefined;
  const parsed = delta.safeParse(JSON.parse(message.data));
  const fresh = parsed.success ? heard.unheard(parsed.data) : undefined;
  return fresh === undefined ? undefined : { kind: "delta", delta: fresh };
}

function eventIn(message: EventSourceMessage): WireEvent {
  try {
    return wireEvent.parse(JSON.parse(message.data));
  } catch (cause) {
    throw new CorralError("daemon.version", "The daemon sent an event in a shape not known here", {
      cause,
      hint: "Daemon and client may be of different versions",
    });
  }
}

function pathOf({ session, project, types, deltas }: Partial<FollowOptions>, cursor: number): string {
  const base = session === undefined ? "/api" : `/api/sessions/${encodeURIComponent(session)}`;
  const wish = { project, types: types?.join(","), deltas: deltas === false ? 0 : undefined };
  return `${base}/events?${queryOf({ follow: 1, after: cursor, ...wish })}`;
}

export function endedEarly(cause?: unknown): CorralError {
  return new CorralError("daemon.unreachable", "The connection to the daemon was lost", { cause, retry: "now" });
}

/** Rethrows what another attempt cannot mend. */
export function mendable(error: unknown): CorralError {
  if (!(error instanceof CorralError)) return endedEarly(error);
  if (error.retry === "never" && errorStatus[error.code] < 500) throw error;
  return error;
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted === true) done();
  });
}
