import { type Delta, isEndOf, type NewEvent } from "@corral/protocol";
import type { Secrets, Stream } from "../secrets/index.ts";

/**
 * Deltas of one run on their way out, without secrets.
 *
 * 1. What a part's deltas say together is the masked text of the part, and offsets count that. So whoever hears a part again, after a
 *    crash, hears the same.
 * 2. An end that a secret may begin with waits for what follows, or for the event that ends the part, and goes out before that.
 */
export class MaskedDeltas {
  readonly #secrets: Secrets;
  readonly #open = new Map<string, OpenPart>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** Nothing, as long as all of it has to wait. */
  take(delta: Delta): readonly Delta[] {
    const key = `${delta.part} ${delta.kind}`;
    // From the beginning: an attempt more.
    const known = delta.offset === 0 ? undefined : this.#open.get(key);
    const part = known ?? { last: delta, end: delta.offset, stream: this.#secrets.text() };
    this.#open.set(key, part);
    part.last = delta;
    return said(part, part.stream.push(delta.text));
  }

  /** What is left of the parts that an event ends. */
  endedBy(told: NewEvent): readonly Delta[] {
    if (this.#open.size === 0) return [];
    if (isEndOf("call", told)) return this.#close(({ part }) => part === told.data.id);
    switch (told.type) {
      case "turn.said":
        return this.#close(({ part }) => part === told.data.part);
      case "turn.settled":
        return this.#close(({ kind }) => kind === "text" || kind === "reasoning");
      case "activity.settled":
        return this.#close(() => true);
      default:
        // Other events close nothing that grows.
        return [];
    }
  }

  #close(ends: (delta: Delta) => boolean): readonly Delta[] {
    const left: Delta[] = [];
    for (const [key, part] of this.#open) {
      if (!ends(part.last)) continue;
      this.#open.delete(key);
      left.push(...said(part, part.stream.end()));
    }
    return left;
  }
}

interface OpenPart {
  last: Delta;
  /** How many characters of it went out. */
  end: number;
  readonly stream: Stream<string>;
}

function said(part: OpenPart, text: string): readonly Delta[] {
  if (text === "") return [];
  const offset = part.end;
  part.end += text.length;
  return [{ ...part.last, offset, text }];
}
