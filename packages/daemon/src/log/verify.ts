import { setImmediate as nextLoopTurn } from "node:timers/promises";
import type { ChainBreak, ChainReport, KeptHead } from "@corral/protocol";
import { type ChainRecord, factsHash, genesis, headText, linkAfter, readHead, wholeHash } from "./chain.ts";
import type { ChainRange } from "./port.ts";

export interface Verification {
  /** A head that was kept elsewhere. */
  readonly head?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told after each page. */
  readonly onProgress?: ((seq: number) => void) | undefined;
}

export interface ChainSource {
  chain(range: ChainRange): Promise<readonly ChainRecord[]>;
}

/** Breaks that are told one by one; the rest are counted. */
const toldBreaks = 100;

/**
 * Goes over the chain from its beginning to its end of that moment, a page at a time, and others get their turn in between. A break is told
 * where it is, and what follows is judged by itself. Rejects when the signal aborts.
 */
export async function verifyChain(
  log: ChainSource,
  { head, signal, onProgress }: Verification = {},
): Promise<ChainReport> {
  const verifier = new Verifier(head);
  let page = await log.chain({ after: undefined });
  while (page.length > 0) {
    signal?.throwIfAborted();
    for (const record of page) verifier.take(record);
    onProgress?.(verifier.position);
    await nextLoopTurn();
    page = await log.chain({ after: verifier.position });
  }
  return verifier.report();
}

type Place = Extract<ChainRecord, { kind: "place" }>;

/**
 * 1. `#link` is the stored link of the last place, so that one break is told once. Undefined where it is gone: what comes
 *    next cannot be judged, and was told of as missing.
 * 2. `#instead` is what that link should have been, when it was not: if the next place follows from it, the link was changed and
 *    not the event.
 */
class Verifier {
  position = 0;
  readonly #wanted: { readonly seq: number; readonly link: string } | undefined;
  #link: string | undefined = genesis;
  #instead: string | undefined;
  #found: KeptHead["found"] | undefined;
  #head: string | null = null;
  #events = 0;
  #olderUpTo = 0;
  #erased = 0;
  #trimmed = 0;
  #trimmedUpTo = 0;
  readonly #gaps: { from: number; to: number }[] = [];
  readonly #breaks: ChainBreak[] = [];
  #breakCount = 0;
  /** Streams with erased events whose end was not met yet, and the first of those events. */
  readonly #endless = new Map<string, number>();

  constructor(head: string | undefined) {
    this.#wanted = head === undefined ? undefined : readHead(head);
  }

  take(record: ChainRecord): void {
    switch (record.kind) {
      case "begin":
        return this.#begin(record);
      case "skip":
        return this.#passOver(record);
      case "place":
        return this.#goOn(record);
    }
  }

  report(): ChainReport {
    for (const [stream, seq] of this.#endless) this.#tell({ kind: "erased", from: seq, to: seq, stream });
    const found = this.#wanted === undefined ? undefined : (this.#found ?? "ahead");
    const isBroken = this.#breakCount > 0 || (found !== undefined && found !== "on-chain");
    return {
      verdict: isBroken ? "broken" : "intact",
      head: this.#head,
      events: this.#events,
      olderUpTo: this.#olderUpTo,
      erased: this.#erased,
      trimmed: this.#trimmed,
      trimmedUpTo: this.#trimmedUpTo,
      gaps: this.#gaps,
      breaks: this.#breaks,
      breakCount: this.#breakCount,
      ...(this.#wanted === undefined || found === undefined
        ? {}
        : { kept: { head: headText(this.#wanted.seq, this.#wanted.link), found } }),
    };
  }

  #begin({ seq, link }: Extract<ChainRecord, { kind: "begin" }>): void {
    this.position = seq;
    this.#olderUpTo = seq;
    this.#link = link;
    if (link !== genesis) this.#tell({ kind: "begin", from: seq, to: seq });
    if (this.#wanted === undefined || this.#wanted.seq > seq) return;
    // The head of a log in which nothing is linked yet.
    const isBeginning = this.#wanted.seq === seq && this.#wanted.link === link;
    this.#found = isBeginning ? "on-chain" : "older";
  }

  #passOver({ from, to, holds }: Extract<ChainRecord, { kind: "skip" }>): void {
    this.#missUpTo(from - 1);
    this.#gaps.push({ from, to });
    if (holds > 0) this.#tell({ kind: "inserted", from, to });
    if (this.#wanted !== undefined && this.#wanted.seq >= from && this.#wanted.seq <= to) this.#found = "passed-over";
    this.position = Math.max(this.position, to);
  }

  #goOn(place: Place): void {
    // What lies in a gap was told of with the gap.
    if (place.seq <= this.position) return;
    this.#missUpTo(place.seq - 1);
    this.position = place.seq;
    this.#events += 1;
    if (place.link === undefined) return this.#tell({ kind: "inserted", ...whereIs(place) });
    this.#judge(place, place.link);
    this.#head = headText(place.seq, place.link);
    if (this.#wanted?.seq === place.seq) this.#found = this.#wanted.link === place.link ? "on-chain" : "other-link";
  }

  #judge(place: Place, link: string): void {
    const whole = this.#wholeOf(place);
    const before = this.#link;
    const instead = this.#instead;
    this.#link = link;
    this.#instead = undefined;
    if (whole === undefined) return this.#tell({ kind: "missing", ...whereIs(place) });
    if (before === undefined) return;
    const right = linkAfter(before, place.seq, whole);
    if (right === link) return;
    if (instead !== undefined && linkAfter(instead, place.seq, whole) === link) return this.#blameLink();
    this.#instead = right;
    this.#tell({ kind: "changed", ...whereIs(place) });
  }

  /** Undefined: the event is gone, and nothing says that it may be. */
  #wholeOf({ seq, event, kept, salt }: Place): string | undefined {
    if (event === undefined) {
      if (kept === undefined) return undefined;
      this.#trimmed += 1;
      this.#trimmedUpTo = seq;
      return kept;
    }
    const isEnd = event.type === "stream.erased";
    if (isEnd) this.#endless.delete(event.stream);
    if (event.type !== "erased" && !isEnd) return wholeHash(event, factsHash(salt, event));
    if (!isEnd) {
      this.#erased += 1;
      if (!this.#endless.has(event.stream)) this.#endless.set(event.stream, seq);
    }
    return wholeHash(event, kept ?? factsHash(salt, event));
  }

  #missUpTo(seq: number): void {
    if (seq <= this.position) return;
    this.#tell({ kind: "missing", from: this.position + 1, to: seq });
    if (this.#wanted !== undefined && this.#wanted.seq > this.position && this.#wanted.seq <= seq)
      this.#found = "other-link";
    this.position = seq;
    this.#link = undefined;
    this.#instead = undefined;
  }

  /** The event told of last is what it was. */
  #blameLink(): void {
    const last = this.#breaks.at(-1);
    if (last !== undefined && this.#breakCount <= toldBreaks)
      this.#breaks[this.#breaks.length - 1] = { ...last, kind: "link-changed" };
  }

  #tell(broken: ChainBreak): void {
    this.#breakCount += 1;
    if (this.#breaks.length < toldBreaks) this.#breaks.push(broken);
  }
}

function whereIs({ seq, event }: Place): Omit<ChainBreak, "kind"> {
  return { from: seq, to: seq, ...(event === undefined ? {} : { stream: event.stream, type: event.type }) };
}
