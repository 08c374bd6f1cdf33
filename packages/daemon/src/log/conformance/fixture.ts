import { event, type Gap, type Lifts, type NewEvent, type StoredEvent } from "@corral/protocol";
import { isGap, type Log, type Page, type Projection } from "../port.ts";

/** What the suite needs of a driver. A module exports it as `driver`, so that other processes open the same log. */
export interface LogDriver {
  /** Opens the log kept in this folder; a reader may lag `readerBound` events behind. */
  open(options: OpenOptions): Promise<Log>;
  /** What the store itself says of its files; "ok" when they are whole. */
  verify(folder: string): Promise<string>;
  /** Puts a backup in the place of the log of this folder, which nobody has open. */
  restore(backup: string, folder: string): Promise<void>;
  /** Everything the store keeps on disk for the log of this folder, as bytes. */
  remains(folder: string): Promise<Buffer>;
}

export interface OpenOptions {
  readonly folder: string;
  readonly projections: readonly Projection[];
  readonly readerBound?: number;
  readonly onDefect?: (defect: unknown) => void;
  /** Milliseconds for leases. */
  readonly clock?: () => number;
  readonly lifts?: Lifts;
}

/** What each test of the suite gets: a folder of its own, gone afterwards together with the logs opened. */
export interface Bench {
  readonly driver: LogDriver;
  readonly module: string;
  readonly folder: string;
  open(options?: Partial<OpenOptions>): Promise<Log>;
}

/** Inputs with the state they are in: enough of a projection to upsert, update in part and delete. */
export const inputs: Projection = {
  table: "inputs",
  columns: { session: "text", state: "text", activity: "text", text: "text", place: "integer" },
  indexes: [["session", "state", "place"], ["session", "place"], ["session"], ["activity"], ["place"]],
  version: 1,
  changes(stored) {
    switch (stored.type) {
      case "input.admitted": {
        const { id, text } = stored.data;
        return [{ key: id, set: { session: stored.stream, state: "waiting", text, place: stored.seq } }];
      }
      case "input.promoted":
        return [{ key: stored.data.id, set: { state: "promoted", activity: stored.data.activityId } }];
      case "environment.closed":
        return [{ key: stored.data.reason, delete: true }];
      default:
        return [];
    }
  },
};

/** How many appends each caller of the storm keeps under way. */
export const inFlight = 4;

export function inputId(n: number | string): `inp_${string}` {
  return `inp_${String(n).padStart(4, "0")}`;
}

export function admitted(n: number | string, text = `text ${n}`): NewEvent {
  return event("input.admitted", { id: inputId(n), text, attachments: [], delivery: "queue" });
}

/** How each went, in a word: "stored", or the code or name of its error. */
export async function settled(promises: readonly Promise<unknown>[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(promises);
  return outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return "stored";
    const error = outcome.reason as { code?: string; name: string };
    return error.code ?? error.name;
  });
}

export const refusesPoison: Projection = {
  table: "poison",
  columns: {},
  version: 1,
  changes(stored) {
    if (stored.type === "input.admitted" && stored.data.text === "poison") throw new Error("cannot be projected");
    return [{ key: `${stored.seq}`, set: {} }];
  },
};

export function promoted(n: number): NewEvent {
  return event("input.promoted", { id: inputId(n), activityId: `act_${n}` });
}

export function row(n: number, { state = "waiting", place }: { state?: string; place: number }) {
  const activity = state === "promoted" ? `act_${n}` : null;
  return { key: inputId(n), session: "a", state, activity, text: `text ${n}`, place };
}

export function idsOf(events: readonly StoredEvent[]): string[] {
  return events.map(({ data }) => (data as { id: string }).id);
}

export function placesOf(events: readonly StoredEvent[]) {
  return events.map((stored) => [stored.seq, stored.stream, stored.version, (stored.data as { id: string }).id]);
}

/** The seqs of a page, or the gap. */
export function seqsOf(page: Page): number[] | Gap {
  return isGap(page) ? page : page.map(({ seq }) => seq);
}

/** Reads all there is of a range that has no gap. */
export async function eventsOf(
  log: Pick<Log, "read">,
  range: Parameters<Log["read"]>[0] = { after: 0 },
): Promise<readonly StoredEvent[]> {
  const page = await log.read(range);
  if (isGap(page)) throw new Error(`there is a gap from ${page.from} to ${page.to}`);
  return page;
}

export async function seqsUntil(log: Log, cursor: Parameters<Log["tail"]>[0], last: number): Promise<number[]> {
  const stopping = new AbortController();
  const seqs: number[] = [];
  for await (const events of log.tail(cursor, stopping.signal)) {
    if (isGap(events)) throw new Error(`there is a gap from ${events.from} to ${events.to}`);
    seqs.push(...events.map(({ seq }) => seq));
    if (seqs.at(-1)! >= last) stopping.abort();
  }
  return seqs;
}

/** A tail driven by hand. Whoever forgets to stop it leaves it to the closing of the log. */
export function tailOf(log: Log, cursor: Parameters<Log["tail"]>[0]) {
  const stopping = new AbortController();
  const iterator = log.tail(cursor, stopping.signal)[Symbol.asyncIterator]();
  return {
    async next(): Promise<number[] | Gap | "end"> {
      const result = await iterator.next();
      return result.done === true ? "end" : seqsOf(result.value);
    },
    stop: () => stopping.abort(),
  };
}
