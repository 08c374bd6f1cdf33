import type { ActivityId, InputId, WaitingOn, WireEvent } from "@corral/protocol";
import { isEndOf, isKnown } from "@corral/protocol/event-types";

export type Outcome =
  | { readonly kind: "done" | "interrupted" }
  /** It was not begun: somebody took it back, or parked it while it waited for a place. */
  | { readonly kind: "cancelled" | "parked" }
  | { readonly kind: "failed"; readonly message: string; readonly hint: string | undefined }
  | {
      readonly kind: "waiting";
      readonly on: WaitingOn;
      readonly calls: readonly string[];
      readonly questions: readonly string[];
    };

/** Watches events for what becomes of one input: how the activity that took it up ends or gets stuck. */
export class OutcomeOf {
  readonly #input: InputId;
  #activity: ActivityId | undefined;
  readonly #unknownCalls = new Set<string>();
  readonly #openQuestions = new Set<string>();
  readonly #heldBack = new Set<string>();

  constructor(input: InputId) {
    this.#input = input;
  }

  /** Open questions about what was held back: no activity waits for their answers. */
  get heldBack(): readonly string[] {
    return [...this.#heldBack];
  }

  /** For whoever knows it from elsewhere than from an event. */
  takenUp(activity: ActivityId): void {
    this.#activity = activity;
  }

  /** The outcome, when this event is the one that brings it. */
  after(event: WireEvent): Outcome | undefined {
    if (!isKnown(event)) return undefined;
    if (isEndOf("question", event)) {
      this.#openQuestions.delete(event.data.id);
      this.#heldBack.delete(event.data.id);
    }
    switch (event.type) {
      case "input.promoted":
        if (event.data.id === this.#input) this.takenUp(event.data.activityId);
        return undefined;
      case "input.cancelled":
        return event.data.id === this.#input ? { kind: "cancelled" } : undefined;
      case "place.left":
        return this.#activity === undefined ? { kind: "parked" } : undefined;
      case "call.unknown":
        this.#unknownCalls.add(event.data.id);
        return undefined;
      case "call.decided":
        this.#unknownCalls.delete(event.data.id);
        return undefined;
      case "workspace.held-back":
        this.#heldBack.add(event.data.id);
        return undefined;
      case "question.asked":
        this.#openQuestions.add(event.data.id);
        if (event.data.about.kind === "held-back") this.#heldBack.add(event.data.id);
        return undefined;
      case "activity.waiting":
        if (event.data.id !== this.#activity) return undefined;
        return {
          kind: "waiting",
          on: event.data.on,
          calls: [...this.#unknownCalls],
          // The activity does not wait for what was held back, and what it waits for comes first.
          questions: [...this.#openQuestions].filter((id) => !this.#heldBack.has(id)),
        };
      case "activity.settled":
        return event.data.id === this.#activity ? settled(event.data) : undefined;
      default:
        // Nothing becomes of the input with other events.
        return undefined;
    }
  }
}

function settled({
  outcome,
  error,
}: {
  outcome: "done" | "failed" | "interrupted";
  error?: { code: string; message: string; hint?: string | undefined } | undefined;
}): Outcome {
  if (outcome !== "failed") return { kind: outcome };
  return { kind: "failed", message: error?.message ?? "the activity failed", hint: error?.hint };
}
