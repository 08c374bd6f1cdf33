import type { Delta, NewEvent } from "@corral/protocol";
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
  endedBy({ type, data }: NewEvent): readonly Delta[] {
    if (this.#open.size === 0) return [];
    switch (type) {
      case "turn.said":
        return this.#close(({ part }) => part === data.part);
      case "turn.settled":
        return this.#close(({ kind }) => kind === "text" || kind === "reasoning");
      case "call.settled":
      case "call.failed":
      case "call.interrupted":
      case "call.unknown":
        return this.#close(({ part }) => part === data.id);
      case "activity.settled":
        return this.#close(() => true);
      default:
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
