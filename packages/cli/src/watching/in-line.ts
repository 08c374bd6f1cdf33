import type { PlaceInLine, SessionState, WireEvent } from "@corral/protocol";
import { isEndOf, isKnown } from "@corral/protocol/event-types";
import { lineWords } from "../sessions/state-words.ts";

/** Says how a session moves up in the line for a place: of that there are no events, for it is of others that something is told. */
export class InLine {
  readonly #state: () => Promise<SessionState>;
  readonly #say: (line: string) => void;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #told: PlaceInLine | undefined;

  constructor(
    state: () => Promise<SessionState>,
    say: (line: string) => void,
    { everyMs = 2_000 }: { readonly everyMs?: number } = {},
  ) {
    this.#state = state;
    this.#say = say;
    this.#everyMs = everyMs;
  }

  event(event: WireEvent): void {
    if (!isKnown(event)) return;
    if (event.type === "place.awaited") this.#begin(event.data);
    else if (isEndOf("place", event) || event.type === "activity.opened") this.over();
  }

  over(): void {
    clearTimeout(this.#timer);
    this.#told = undefined;
  }

  /** What it says itself is shown with the event. */
  #begin(told: PlaceInLine): void {
    this.over();
    this.#told = told;
    this.#timer = setTimeout(() => void this.#look(), this.#everyMs).unref();
  }

  async #look(): Promise<void> {
    const state = await this.#state().catch(() => undefined);
    const told = this.#told;
    if (told === undefined) return;
    const place = state?.state === "waiting" && state.on === "place" ? state : undefined;
    if (place !== undefined && (place.position !== told.position || place.limit !== told.limit)) {
      this.#told = place;
      this.#say(`(${lineWords(place)})\n`);
    }
    this.#timer?.refresh();
  }
}
