import { bounds } from "./bounds.ts";
import { refused } from "./failure.ts";
import type { ProviderMetadata } from "./port.ts";

/** How much of a reply has come. Throws `provider.refused` as soon as it is more than the bounds allow. */
export class Measure {
  readonly #label: string;
  #words = 0;
  #parts = 0;
  /** Characters of the arguments that have come, of calls that are not whole yet. */
  readonly #growing = new Map<string, number>();

  constructor(label: string) {
    this.#label = label;
  }

  begin(): void {
    this.grow(bounds.overhead);
  }

  grow(characters: number): void {
    this.#words += characters;
    if (this.#words > bounds.words) throw this.#tooMuch(`longer than ${bounds.words / 1024 / 1024} MiB of text`);
  }

  /** A part that has something in it. */
  part(): void {
    this.#parts += 1;
    if (this.#parts > bounds.parts) throw this.#tooMuch(`in more than ${bounds.parts} parts`);
  }

  metadata(metadata: ProviderMetadata | undefined): void {
    if (metadata !== undefined) this.grow(JSON.stringify(metadata).length);
  }

  beginCall(id: string): void {
    this.begin();
    this.#growing.set(id, 0);
  }

  growCall(id: string, characters: number): void {
    this.grow(characters);
    this.#growing.set(id, (this.#growing.get(id) ?? 0) + characters);
  }

  /** Some servers tell the arguments with the end of a call alone. */
  endCall(id: string, characters: number): void {
    if (!this.#growing.has(id)) this.begin();
    this.grow(Math.max(0, characters - (this.#growing.get(id) ?? 0)));
    this.#growing.delete(id);
  }

  #tooMuch(how: string) {
    return refused(
      `${this.#label}'s reply was given up: it is ${how}.`,
      "The model may be caught in a loop. Ask for less at once, or use another model.",
    );
  }
}
