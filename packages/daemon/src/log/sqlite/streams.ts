import { CorralError } from "@corral/protocol";
import type { Lease, LeaseAnswer, LeaseTerms } from "../port.ts";
import type { Database } from "./database.ts";

/** What the log knows of a stream besides its events. */
export interface StreamState {
  /** Undefined until the stream is first written. */
  readonly id: number | undefined;
  /** What the hashes of its events' facts begin with. */
  readonly salt: string;
  readonly version: number;
  readonly fence: number;
  readonly holder: string | null;
  /** How long the lease lasts unless renewed; null: until it is given back or taken. */
  readonly ttl: number | null;
  /** Counts the renewals of the lease. */
  readonly beat: number;
}

const newSalt = "lower(hex(randomblob(16)))";

/** How many streams are remembered; past it all are forgotten, and looked up again when needed. */
const remembered = 10_000;

/**
 * Versions, fences and leases of streams, remembered so that an append need not look them up.
 *
 * Invariants
 * 1. What is remembered equals what the open transaction would read: whoever writes calls `advance`
 *    last, when nothing more can fail, and `forget` is called when a transaction was lost or another
 *    process has written.
 * 2. A fence under which something was refused is spoiled until a new lease is taken.
 * 3. A lease's time counts from when this process first saw it, or its last renewal, on this process's own monotonic
 *    clock. Nothing about time is stored, so a lease may last longer than its time, never shorter.
 */
export class Streams {
  readonly #database: Database;
  readonly #clock: () => number;
  readonly #states = new Map<string, StreamState>();
  readonly #spoiled = new Map<string, Set<number>>();
  /** Of each lease with a time: what was last seen of it, and when that was new. */
  readonly #seen = new Map<string, { readonly fence: number; readonly beat: number; readonly since: number }>();

  /** `clock`: milliseconds that stand still while the machine does. */
  constructor(database: Database, clock: () => number) {
    this.#database = database;
    this.#clock = clock;
  }

  state(stream: string): StreamState {
    let state = this.#states.get(stream);
    if (state === undefined) {
      state = this.#load(stream);
      if (this.#states.size >= remembered) this.#states.clear();
      this.#states.set(stream, state);
    }
    return state;
  }

  /** The stream's id and salt, given now if it has none. To be followed by `advance` with them. */
  identityOf(stream: string): { readonly id: number; readonly salt: string } {
    const { id, salt } = this.state(stream);
    if (id !== undefined) return { id, salt };
    const made = this.#database.first(
      `INSERT INTO streams (name, fence, holder, salt) VALUES (?, 0, NULL, ${newSalt}) RETURNING id, salt`,
      stream,
    );
    return { id: made?.[0] as number, salt: made?.[1] as string };
  }

  /** The salt of what was said so far is gone for good. */
  resalt(stream: string): void {
    const state = this.state(stream);
    const made = this.#database.first(`UPDATE streams SET salt = ${newSalt} WHERE id = ? RETURNING salt`, state.id!);
    this.advance(stream, { ...state, salt: made?.[0] as string });
  }

  advance(stream: string, state: StreamState): void {
    this.#states.set(stream, state);
  }

  forget(): void {
    this.#states.clear();
  }

  takeLease(stream: string, holder: string, { ttlMs }: LeaseTerms = {}): Lease {
    const { fence } = this.#grant(stream, holder, ttlMs ?? null);
    return { stream, fence, holder };
  }

  tryLease(stream: string, holder: string, terms: LeaseTerms = {}): LeaseAnswer {
    const state = this.state(stream);
    if (state.holder !== null && state.holder !== holder && !this.#hasRunOut(stream, state))
      return { kind: "held", by: state.holder };
    return { kind: "taken", lease: this.takeLease(stream, holder, terms) };
  }

  /** Throws `lease.stale` unless it is held. */
  renewLease({ stream, fence }: Lease): void {
    this.checkFence(stream, fence);
    const state = this.state(stream);
    if (state.ttl === null) return;
    const beat = state.beat + 1;
    this.#database.run("UPDATE streams SET beat = ? WHERE id = ?", beat, state.id!);
    this.#see(stream, fence, beat);
    this.advance(stream, { ...state, beat });
  }

  releaseLease(lease: Lease): void {
    const state = this.state(lease.stream);
    if (state.id === undefined || state.fence !== lease.fence || state.holder === null) return;
    this.#database.run("UPDATE streams SET holder = NULL WHERE id = ?", state.id);
    this.#seen.delete(lease.stream);
    this.advance(lease.stream, { ...state, holder: null });
  }

  /** From now on every fence given before is refused, and nobody holds the lease. */
  revokeLease(stream: string): void {
    this.#grant(stream, null, null);
  }

  /** Throws `lease.stale` unless the fence is the newest, held and unspoiled. */
  checkFence(stream: string, fence: number): void {
    const state = this.state(stream);
    if (state.fence !== fence) throw stale(stream, `fence ${fence} has been followed by ${state.fence}`);
    if (state.holder === null) throw stale(stream, `the lease with fence ${fence} was given back`);
    if (this.#hasRunOut(stream, state)) throw stale(stream, `it was not renewed within ${state.ttl} ms`);
    if (this.#spoiled.get(stream)?.has(fence))
      throw stale(stream, `an earlier append under fence ${fence} was refused`);
  }

  /** From now on nothing is taken under this fence: what would follow the refused append must not stand without it. */
  spoil(stream: string, fence: number, because: unknown): void {
    if (because instanceof CorralError && because.code === "lease.stale") return;
    const fences = this.#spoiled.get(stream) ?? new Set();
    this.#spoiled.set(stream, fences.add(fence));
  }

  /** A newer lease is durable, so older fences are refused for their age alone. */
  cleanse(lease: Lease): void {
    const fences = this.#spoiled.get(lease.stream);
    if (fences === undefined) return;
    for (const fence of fences) if (fence < lease.fence) fences.delete(fence);
    if (fences.size === 0) this.#spoiled.delete(lease.stream);
  }

  #grant(stream: string, holder: string | null, ttl: number | null): StreamState {
    const { id, salt } = this.identityOf(stream);
    const before = this.state(stream);
    const state = { ...before, id, salt, fence: before.fence + 1, holder, ttl };
    const { fence } = state;
    this.#database.run("UPDATE streams SET fence = ?, holder = ?, ttl = ? WHERE id = ?", fence, holder, ttl, id);
    if (ttl === null) this.#seen.delete(stream);
    else this.#see(stream, fence, state.beat);
    this.advance(stream, state);
    return state;
  }

  #hasRunOut(stream: string, { fence, beat, ttl }: StreamState): boolean {
    if (ttl === null) return false;
    const seen = this.#seen.get(stream);
    const since = seen?.fence === fence && seen.beat === beat ? seen.since : this.#see(stream, fence, beat);
    return this.#clock() - since >= ttl;
  }

  #see(stream: string, fence: number, beat: number): number {
    const since = this.#clock();
    this.#seen.set(stream, { fence, beat, since });
    return since;
  }

  #load(stream: string): StreamState {
    const row = this.#database.first(
      "SELECT id, fence, holder, ttl, beat, trimmed_version, salt FROM streams WHERE name = ?",
      stream,
    );
    if (row === undefined) return { id: undefined, salt: "", version: 0, fence: 0, holder: null, ttl: null, beat: 0 };
    const [id, fence, holder, ttl, beat, trimmed, salt] = row as [
      number,
      number,
      string | null,
      number | null,
      number,
      number,
      string,
    ];
    const newest = this.#database.first(
      "SELECT version FROM events INDEXED BY events_by_stream WHERE stream = ? ORDER BY seq DESC LIMIT 1",
      id,
    );
    return { id, salt, version: (newest?.[0] ?? trimmed) as number, fence, holder, ttl, beat };
  }
}

function stale(stream: string, why: string): CorralError {
  return new CorralError("lease.stale", `The lease of ${stream} no longer holds: ${why}.`, {
    hint: "Take the lease again and go on from the stream as it is then.",
  });
}
