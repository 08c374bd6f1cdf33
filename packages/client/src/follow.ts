import type { Delta, Gap, StreamFilter, WireEvent } from "@corral/protocol";
import { CorralError, errorStatus } from "@corral/protocol/error";
import { addressOf, routeOf } from "./address.ts";
import { type Connect, connectionLost, ReaderBehind, type Said, unreadable } from "./connection.ts";
import { Heard } from "./heard.ts";
import { isDelta, isEvent, isGap } from "./shapes.ts";
import { connectSocket, type OpenSocket } from "./socket.ts";
import { connectSse } from "./sse.ts";
import type { Transport } from "./transport.ts";

/**
 * A stream that outlives its connections.
 *
 * 1. Every event after the cursor comes once, in seq order, however often the connection breaks: each
 *    new one asks after the last event given out, and what was given out is never given again.
 * 2. In the place of events that are no longer kept comes one gap, after which the stream goes on.
 * 3. The text of a growing part comes once: a new connection begins with the text so far, of which only
 *    the unheard rest is given out. Behind a gap the text so far may come again, for what closed it may be lost.
 * 4. Only what asking again cannot mend is thrown.
 * 5. An aborted signal ends it at once, whatever it waits for.
 */
export interface FollowOptions extends StreamFilter {
  /** What carries it. A browser needs no slot of its six connections for a WebSocket. */
  readonly over?: "sse" | "websocket";
  /** False: only events, no pieces of what is still growing. */
  readonly deltas?: boolean;
  /** The seq of the last event already known; 0 for all. */
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
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
  /** How many attempts in a row brought nothing, not even a heartbeat. */
  readonly attempt: number;
  /** The seq up to which all was given out. */
  readonly cursor: number;
}

export type Followed =
  | { readonly kind: "event"; readonly event: WireEvent }
  | { readonly kind: "delta"; readonly delta: Delta }
  | Readonly<Gap>;

export async function* follow(
  transport: Transport,
  openSocket: OpenSocket,
  { after, signal, onBreak, silenceMs = 45_000, over = "sse", ...wish }: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const connect: Connect = over === "sse" ? connectSse : connectSocket(openSocket);
  const pathOf = over === "sse" ? ssePath : socketPath;
  const heard = new Heard();
  let cursor = after;
  let attempt = 0;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    let broken = connectionLost();
    try {
      for await (const said of connect({ transport, path: pathOf(wish, cursor), silenceMs, signal })) {
        if (isOver()) return;
        attempt = 0;
        const news = read(said, cursor, heard);
        if (news === undefined) continue;
        cursor = cursorAfter(news) ?? cursor;
        yield news;
      }
    } catch (error) {
      if (isOver()) return;
      if (error instanceof ReaderBehind) continue;
      broken = mendable(error);
    }
    if (isOver()) return;
    attempt += 1;
    const told = Promise.resolve(onBreak?.({ error: broken, attempt, cursor }));
    await unlessAborted(signal, told);
    await pause(Math.min(50 * 2 ** (attempt - 1), 2_000), signal);
  }
}

/** What a message tells that is new; nothing when it was heard before or is of a kind not known here. */
function read({ kind, about }: Said, cursor: number, heard: Heard): Followed | undefined {
  switch (kind) {
    case "event":
      return readEvent(about, cursor, heard);
    case "gap":
      return readGap(about, cursor, heard);
    case "delta":
      return readDelta(about, heard);
    default:
      return undefined;
  }
}

function readEvent(event: unknown, cursor: number, heard: Heard): Followed | undefined {
  if (!isEvent(event)) throw unreadable(event);
  if (event.seq <= cursor) return undefined;
  heard.note(event);
  return { kind: "event", event };
}

function readGap(gap: unknown, cursor: number, heard: Heard): Followed | undefined {
  if (!isGap(gap)) throw unreadable(gap);
  if (gap.to <= cursor) return undefined;
  heard.forget();
  return { kind: "gap", from: Math.max(gap.from, cursor + 1), to: gap.to };
}

function readDelta(delta: unknown, heard: Heard): Followed | undefined {
  const fresh = isDelta(delta) ? heard.unheard(delta) : undefined;
  return fresh === undefined ? undefined : { kind: "delta", delta: fresh };
}

function cursorAfter(news: Followed): number | undefined {
  if (news.kind === "event") return news.event.seq;
  return news.kind === "gap" ? news.to : undefined;
}

type Wish = StreamFilter & Pick<FollowOptions, "deltas">;

function ssePath({ session, project, types, deltas }: Wish, cursor: number): string {
  const query = { follow: true, after: cursor, project, types, deltas };
  if (session === undefined) return addressOf(routeOf("events"), [], query);
  return addressOf(routeOf("sessions.events"), [session], query);
}

function socketPath({ session, project, types, deltas }: Wish, cursor: number): string {
  return addressOf(routeOf("stream"), [], { after: cursor, session, project, types, deltas });
}

/** Rethrows what another attempt cannot mend. */
export function mendable(error: unknown): CorralError {
  if (!(error instanceof CorralError)) return connectionLost(error);
  if (error.retry === "never" && errorStatus[error.code] < 500) throw error;
  return error;
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return unlessAborted(signal, promise).finally(() => clearTimeout(timer));
}

/** Waits for the deed, or no longer than until the signal aborts. */
async function unlessAborted(signal: AbortSignal | undefined, deed: Promise<void>): Promise<void> {
  if (signal === undefined) return deed;
  const { promise, resolve } = Promise.withResolvers<void>();
  const leave = () => resolve();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    await Promise.race([deed, promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
