import { event, type NewEvent } from "@corral/protocol";
import type { Log, Projection } from "./port.ts";

/** What the suite needs of a driver. It is the default export of a module, so that other processes open the same log. */
export interface LogDriver {
  /** Opens the log kept in this folder; a reader may lag `readerBound` events behind. */
  open(options: OpenOptions): Promise<Log>;
  /** What the store itself says of its files; "ok" when they are whole. */
  verify(folder: string): Promise<string>;
}

export interface OpenOptions {
  readonly folder: string;
  readonly projections: readonly Projection[];
  readonly readerBound?: number;
  readonly onDefect?: (defect: unknown) => void;
}

/** Inputs with the state they are in: enough of a projection to upsert, update in part and delete. */
export const inputs: Projection = {
  table: "inputs",
  columns: { session: "text", state: "text", activity: "text", text: "text", place: "integer" },
  indexes: [["session", "state", "place"], ["activity"], ["place"]],
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
