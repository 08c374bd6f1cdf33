import { timingSafeEqual } from "node:crypto";
import type { TokenFacts, TokenId, TokenView } from "@corral/protocol";
import type { Principal } from "../routing/index.ts";

/**
 * The tokens there are, in memory, so that a request is let in without touching the disk.
 *
 * 1. Adding and revoking can be repeated: events and rows may tell the same twice.
 * 2. A token is valid while it is unrevoked and unexpired and so are all it was made with. One whose maker is not
 *    known is as good as revoked.
 * 3. `over` aborts once, by the first of: its own revocation, that of a maker, its time.
 */
export class Ring {
  readonly #held = new Map<TokenId, Held>();
  readonly #byHash = new Map<string, Held>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(facts: TokenFacts): void {
    if (this.#held.has(facts.id)) return;
    const over = new AbortController();
    const { hash: _hash, id: token, madeWith: _madeWith, name: _name, ...reach } = facts;
    const held: Held = {
      facts,
      hash: Buffer.from(facts.hash, "hex"),
      over,
      principal: { ...reach, token, over: over.signal },
    };
    this.#held.set(facts.id, held);
    this.#byHash.set(facts.hash, held);
    if (facts.expiresAt !== undefined) this.#endAt(held, Date.parse(facts.expiresAt));
  }

  revoke(id: TokenId): void {
    const held = this.#held.get(id);
    if (held === undefined || held.revoked === true) return;
    held.revoked = true;
    for (const each of this.#held.values()) if (this.#stateOf(each) === "revoked") this.#end(each);
  }

  find(digest: Buffer): Principal | undefined {
    const held = this.#byHash.get(digest.toString("hex"));
    if (held === undefined || !timingSafeEqual(digest, held.hash)) return undefined;
    return this.#stateOf(held) === "valid" ? held.principal : undefined;
  }

  view(id: TokenId): TokenView | undefined {
    const held = this.#held.get(id);
    return held === undefined ? undefined : this.#viewOf(held);
  }

  list(): readonly TokenView[] {
    return [...this.#held.values()].map((held) => this.#viewOf(held));
  }

  close(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
  }

  #viewOf(held: Held): TokenView {
    const { hash: _hash, ...facts } = held.facts;
    return { ...facts, state: this.#stateOf(held) };
  }

  #stateOf({ facts, revoked }: Held): TokenView["state"] {
    if (revoked === true) return "revoked";
    const maker = facts.madeWith === undefined ? undefined : this.#held.get(facts.madeWith);
    if (facts.madeWith !== undefined && (maker === undefined || this.#stateOf(maker) === "revoked")) return "revoked";
    return facts.expiresAt !== undefined && Date.parse(facts.expiresAt) <= this.#now() ? "expired" : "valid";
  }

  /** A timer lasts at most some 24 days; a longer time is waited for in turns. */
  #endAt(held: Held, time: number): void {
    const left = time - this.#now();
    if (left <= 0) return this.#end(held);
    held.timer = setTimeout(() => this.#endAt(held, time), Math.min(left, 2 ** 31 - 1)).unref();
  }

  #end(held: Held): void {
    clearTimeout(held.timer);
    held.over.abort();
  }
}

interface Held {
  readonly facts: TokenFacts;
  readonly hash: Buffer;
  readonly principal: Principal;
  readonly over: AbortController;
  revoked?: boolean;
  timer?: NodeJS.Timeout;
}
