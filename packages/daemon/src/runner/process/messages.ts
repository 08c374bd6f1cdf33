import type { Delta, NewEvent, StoredEvent } from "@corral/protocol";
import type { Promotion, PromotionPlace } from "../../sessions/index.ts";
import type { Assignment, RunEnd } from "../port.ts";

/** What the daemon says to a runner process. `run` numbers a session's run within the process. */
export type ToRunner =
  | { readonly say: "start"; readonly run: number; readonly assignment: Assignment }
  | { readonly say: "wake"; readonly run: number }
  | { readonly say: "tell"; readonly run: number; readonly event: StoredEvent }
  | { readonly say: "done"; readonly run: number; readonly request: number; readonly promotion?: Promotion }
  | { readonly say: "refused"; readonly run: number; readonly request: number; readonly reason: string }
  | { readonly say: "drain" }
  | { readonly say: "ping" }
  /** How much its log says from now on. */
  | { readonly say: "level"; readonly level: string };

/** What a runner process says to the daemon. Requests are answered by `done` or `refused`. */
export type FromRunner =
  | { readonly say: "ready" | "pong" }
  /** A line for the daemon's log. */
  | { readonly say: "log"; readonly line: string }
  /** Its last word: what broke the whole process. */
  | { readonly say: "broke"; readonly what: string }
  | { readonly say: "append"; readonly run: number; readonly request: number; readonly events: readonly NewEvent[] }
  | { readonly say: "promote"; readonly run: number; readonly request: number; readonly place: PromotionPlace }
  | { readonly say: "snapshotted"; readonly run: number; readonly request: number }
  | { readonly say: "deltas"; readonly run: number; readonly deltas: readonly Delta[] }
  | { readonly say: "ended"; readonly run: number; readonly end: RunEnd };
