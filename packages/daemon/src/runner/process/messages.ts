import type { Delta, NewEvent, Problem, StoredEvent } from "@corral/protocol";
import type { Reach } from "../../providers/index.ts";
import type { Secret } from "../../secrets/index.ts";
import type { PromotionPlace } from "../../sessions/index.ts";
import type { Assignment, RunEnd } from "../port.ts";
import type { Packed } from "./packed.ts";

/** What the daemon says to a runner process. `run` numbers a session's run within the process. */
export type ToRunner =
  | { readonly say: "start"; readonly run: number; readonly assignment: Assignment }
  | { readonly say: "wake"; readonly run: number }
  | { readonly say: "tell"; readonly run: number; readonly event: StoredEvent }
  | { readonly say: "done"; readonly run: number; readonly request: number; readonly answer: Packed }
  | {
      readonly say: "refused";
      readonly run: number;
      readonly request: number;
      readonly reason: string;
      readonly problem?: Problem;
    }
  | { readonly say: "open"; readonly run: number; readonly request: number }
  /** What it was given to judge by may be old. */
  | { readonly say: "rules-changed"; readonly run: number }
  /** All that are to be masked, as far as they are known. */
  | { readonly say: "secrets"; readonly secrets: readonly Secret[] }
  | { readonly say: "drain" }
  | { readonly say: "ping" }
  /** How much its log says from now on. */
  | { readonly say: "level"; readonly level: string }
  /** The answer to `reach`. */
  | { readonly say: "reached"; readonly request: number; readonly reach: Reach }
  | { readonly say: "reached"; readonly request: number; readonly problem: Problem }
  /** What it was told of how providers are reached is old. */
  | { readonly say: "reaches-changed" };

/** What a runner process says to the daemon. Requests are answered by `done` or `refused`. */
export type FromRunner =
  | { readonly say: "ready" | "pong" }
  /** A line for the daemon's log. */
  | { readonly say: "log"; readonly line: string }
  /** Its last word: what broke the whole process. */
  | { readonly say: "broke"; readonly what: string }
  /** How the provider of a model is reached, its key included: asked for when the model is about to be. */
  | { readonly say: "reach"; readonly request: number; readonly model: string }
  | { readonly say: "append"; readonly run: number; readonly request: number; readonly events: readonly NewEvent[] }
  | { readonly say: "promote"; readonly run: number; readonly request: number; readonly place: PromotionPlace }
  | { readonly say: "claim"; readonly run: number; readonly request: number }
  /** Asks for a capability. */
  | {
      readonly say: "call";
      readonly run: number;
      readonly request: number;
      readonly name: string;
      readonly ask: Packed;
    }
  /** Nobody waits for the answer to a call any more. */
  | { readonly say: "give-up"; readonly run: number; readonly request: number }
  | { readonly say: "deltas"; readonly run: number; readonly deltas: readonly Delta[] }
  /** The answer to `open`. */
  | { readonly say: "opened"; readonly run: number; readonly request: number; readonly problem?: Problem }
  | { readonly say: "ended"; readonly run: number; readonly end: RunEnd };
