import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Delta, delta, event, type NewEvent, type SessionId } from "@corral/protocol";
import * as z from "zod";
import { historyOf, type Lease, type Log } from "../log/index.ts";
import { foldHistory } from "../sessions/index.ts";

/**
 * Words that a run streamed and never ended, for it broke off. Whoever watched has seen them, so they are closed on record, as cut.
 *
 * 1. When a runner dies, the daemon knows them from the live lane. When the daemon dies, its runners do, and leave them in a
 *    file before they end. When both die at once they are lost: the next attempt ends them for whoever watches.
 * 2. They are closed under the lease, before the session goes on: an attempt more never comes before them.
 * 3. A part is closed once, whichever of the two has it.
 */
export async function closeCutParts(log: Log, { stream, fence }: Lease, folder: string | undefined): Promise<void> {
  const session = stream as SessionId;
  const by = { stream, actor: `agent:${session}`, fence };
  const left = wordsIn(folder, session);
  // What the run sent last may end them, and is on its way to the disk.
  if (left.length > 0 || wordsOn(log.live, session).length > 0) {
    await log.append({ ...by, events: [] });
    const { activity } = foldHistory(await historyOf(log, stream));
    const events = closing(activity?.turn, [...left, ...wordsOn(log.live, session)]);
    if (events.length > 0) await log.append({ ...by, events });
  }
  removeCutParts(folder, session);
}

/** Those of a session that is no more, too. */
export function removeCutParts(folder: string | undefined, session: SessionId): void {
  if (folder !== undefined) rmSync(fileOf(folder, session), { force: true });
}

type Words = Extract<Delta, { kind: "text" | "reasoning" }>;

/** The words that one run has streamed, for as long as their ends are not durable. */
export class StreamedWords {
  readonly #parts = new Map<string, Words>();

  add(piece: Delta): void {
    if (piece.kind !== "text" && piece.kind !== "reasoning") return;
    const before = this.#parts.get(piece.part);
    this.#parts.set(piece.part, before === undefined ? piece : { ...before, text: before.text + piece.text });
  }

  /** These events are durable. */
  settle(events: readonly NewEvent[]): void {
    if (this.#parts.size === 0) return;
    for (const { type, data } of events)
      if (type === "turn.said") this.#parts.delete(data.part);
      else if (type === "turn.settled") this.#parts.clear();
  }

  /** For the next daemon. Synchronous: this process is about to end. */
  leave(folder: string, session: SessionId): void {
    if (this.#parts.size === 0) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(fileOf(folder, session), JSON.stringify([...this.#parts.values()]), { mode: 0o600 });
  }
}

export function cutPartsFolder(home: string): string {
  return join(home, "cut");
}

function fileOf(folder: string, session: SessionId): string {
  return join(folder, `${session}.json`);
}

function closing(
  turn: { readonly id: `trn_${string}`; readonly said: readonly { readonly part: string }[] } | undefined,
  words: readonly Words[],
): NewEvent[] {
  if (turn === undefined) return [];
  const closed = new Set(turn.said.map(({ part }) => part));
  return words.flatMap(({ part, kind, text }) => {
    if (closed.has(part)) return [];
    closed.add(part);
    return [event("turn.said", { id: turn.id, part, kind, text, cut: true })];
  });
}

/** A new subscriber gets the text so far at once, which is all that is wanted. */
function wordsOn(live: Log["live"], session: SessionId): readonly Words[] {
  const found: Delta[] = [];
  live.subscribe({ session }, (deltas) => found.push(...deltas))();
  return found.filter(isWords);
}

/** What is half a file, of a machine that lost its power, is nothing. */
function wordsIn(folder: string | undefined, session: SessionId): readonly Words[] {
  if (folder === undefined) return [];
  try {
    return z
      .array(delta)
      .parse(JSON.parse(readFileSync(fileOf(folder, session), "utf8")))
      .filter(isWords);
  } catch {
    return [];
  }
}

function isWords(piece: Delta): piece is Words {
  return piece.kind === "text" || piece.kind === "reasoning";
}
