import type { LeftOut } from "@corral/protocol";
import type { ArtifactOwner } from "./port.ts";

export interface QuotaTerms {
  readonly maxBytes: number;
  readonly sessionMaxBytes: number;
}

/** How much artifacts hold, overall and for each owner; the same bytes in two of them count twice. */
export class Quota {
  readonly #terms: () => QuotaTerms;
  readonly #held = new Map<ArtifactOwner, number>();
  #total = 0;

  constructor(terms: () => QuotaTerms) {
    this.#terms = terms;
  }

  /** Takes as much as there is room for. */
  take(owner: ArtifactOwner, wanted: number): { readonly taken: number; readonly short?: LeftOut["because"] } {
    const { maxBytes, sessionMaxBytes } = this.#terms();
    const own = sessionMaxBytes - (this.#held.get(owner) ?? 0);
    const all = maxBytes - this.#total;
    const taken = Math.max(0, Math.min(wanted, own, all));
    this.hold(owner, taken);
    return taken === wanted ? { taken } : { taken, short: own <= all ? "session quota" : "quota" };
  }

  /** What is there already, whatever the terms say by now; less than nothing gives back. */
  hold(owner: ArtifactOwner, bytes: number): void {
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + bytes);
    this.#total += bytes;
  }

  giveBackAllOf(owner: ArtifactOwner): void {
    this.#total -= this.#held.get(owner) ?? 0;
    this.#held.delete(owner);
  }
}
