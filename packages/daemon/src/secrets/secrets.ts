import { Mask, type Secret } from "./mask.ts";
import { scrubbed, stringsIn } from "./values.ts";
import { isWorthMasking } from "./worth.ts";

/**
 * The secrets that are known here, masked wherever they turn up.
 *
 * 1. A secret counts from the moment it is learnt, also in streams that have begun. It is never forgotten: an old key may still be good.
 * 2. Short and common values are left alone (`worth.ts`).
 * 3. A secret is found as it is and as JSON spells it, in no other encoding.
 */
export class Secrets {
  readonly #known = new Map<string, Secret>();
  readonly #listeners = new Set<(all: readonly Secret[]) => void>();
  #masks: Masks | undefined;

  /** All that are masked. */
  get all(): readonly Secret[] {
    return [...this.#known.values()];
  }

  learn(...secrets: readonly Secret[]): void {
    const news = secrets
      .map(({ name, value }) => ({ name, value: value.trim() }))
      .filter(({ value }) => !this.#known.has(value) && isWorthMasking(value));
    if (news.length === 0) return;
    for (const each of news) if (!this.#known.has(each.value)) this.#known.set(each.value, each);
    this.#masks = undefined;
    for (const listener of this.#listeners) listener(this.all);
  }

  /** Called with all of them whenever there is another. */
  onLearn(listener: (all: readonly Secret[]) => void): void {
    this.#listeners.add(listener);
  }

  /** Masks a text, or all strings of a JSON value, property names included. Returns the value itself when it holds no secret. */
  masked<T>(value: T): T {
    const { text } = this.#now;
    if (typeof value === "string") return text.mask(value) as T;
    return this.namesIn(value).length === 0 ? value : scrubbed(value, text);
  }

  /** The names of the secrets in it. */
  namesIn(value: unknown): readonly string[] {
    const names = new Set<string>();
    const { text } = this.#now;
    for (const each of stringsIn(value)) text.mask(each, (name) => names.add(name));
    return [...names];
  }

  /** For text that comes in pieces. */
  text(): Stream<string> {
    return new TextStream(() => this.#now.text);
  }

  /** For bytes that come in pieces, whatever they are. */
  bytes(): Stream<Buffer> {
    return new ByteStream(() => this.#now.bytes);
  }

  get #now(): Masks {
    this.#masks ??= masksFor(this.all);
    return this.#masks;
  }
}

/** Masks what comes in pieces, also a secret that is cut in two. */
export interface Stream<T> {
  /** What is certain by now: all but an end that may be the beginning of a secret. */
  push(piece: T): T;
  /** The rest: nothing more comes. */
  end(): T;
}

interface Masks {
  readonly text: Mask;
  /** The same for bytes, as a text with a character for each. */
  readonly bytes: Mask;
}

function masksFor(secrets: readonly Secret[]): Masks {
  const spelled = secrets.flatMap(({ name, value }) => {
    const inJson = JSON.stringify(value).slice(1, -1);
    return inJson === value
      ? [{ name, value }]
      : [
          { name, value },
          { name, value: inJson },
        ];
  });
  const bytes = spelled.map(({ name, value }) => ({ name: latin(name), value: latin(value) }));
  return { text: new Mask(spelled), bytes: new Mask(bytes) };
}

function latin(text: string): string {
  return Buffer.from(text).toString("latin1");
}

class TextStream implements Stream<string> {
  readonly #mask: () => Mask;
  #held = "";

  constructor(mask: () => Mask) {
    this.#mask = mask;
  }

  push(piece: string): string {
    const { masked, held } = this.#mask().settled(this.#held + piece);
    this.#held = held;
    return masked;
  }

  end(): string {
    const rest = this.#mask().mask(this.#held);
    this.#held = "";
    return rest;
  }
}

class ByteStream implements Stream<Buffer> {
  readonly #text: TextStream;

  constructor(mask: () => Mask) {
    this.#text = new TextStream(mask);
  }

  push(piece: Buffer): Buffer {
    return Buffer.from(this.#text.push(piece.toString("latin1")), "latin1");
  }

  end(): Buffer {
    return Buffer.from(this.#text.end(), "latin1");
  }
}
