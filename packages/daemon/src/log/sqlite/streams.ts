import { CorralError } from "@corral/protocol";
import type { Lease } from "../port.ts";
import type { Database } from "./database.ts";

/** What the log knows of a stream besides its events. */
export interface StreamState {
  /** Undefined until the stream is first written. */
  readonly id: number | undefined;
  readonly version: number;
  readonly fence: number;
  readonly holder: string | null;
}

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
 */
export class Streams {
  readonly #database: Database;
  readonly #states = new Map<string, StreamState>();
  readonly #spoiled = new Map<string, Set<number>>();

  constructor(database: Database) {
    this.#database = database;
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

  /** The stream's id, given now if it has none. To be followed by `advance` with it. */
  idOf(stream: string): number {
    const { id } = this.state(stream);
    if (id !== undefined) return id;
    const made = this.#database.first(
      "INSERT INTO streams (name, fence, holder) VALUES (?, 0, NULL) RETURNING id",
      stream,
    );
    return made?.[0] as number;
  }

  advance(stream: string, state: StreamState): void {
    this.#states.set(stream, state);
  }

  forget(): void {
    this.#states.clear();
  }

  takeLease(stream: string, holder: string): Lease {
    const id = this.idOf(stream);
    const state = this.state(stream);
    const fence = state.fence + 1;
    this.#database.run("UPDATE streams SET fence = ?, holder = ? WHERE id = ?", fence, holder, id);
    this.advance(stream, { ...state, id, fence, holder });
    return { stream, fence, holder };
  }

  releaseLease(lease: Lease): void {
    const state = this.state(lease.stream);
    if (state.id === undefined || state.fence !== lease.fence || state.holder === null) return;
    this.#database.run("UPDATE streams SET holder = NULL WHERE id = ?", state.id);
    this.advance(lease.stream, { ...state, holder: null });
  }

  /** Throws `lease.stale` unless the fence is the newest, held and unspoiled. */
  checkFence(stream: string, fence: number): void {
    const state = this.state(stream);
    if (state.fence !== fence) throw stale(stream, `fence ${fence} has been followed by ${state.fence}`);
    if (state.holder === null) throw stale(stream, `the lease with fence ${fence} was given back`);
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

  #load(stream: string): StreamState {
    const row = this.#database.first("SELECT id, fence, holder FROM streams WHERE name = ?", stream);
    if (row === undefined) return { id: undefined, version: 0, fence: 0, holder: null };
    const [id, fence, holder] = row as readonly [number, number, string | null];
    const newest = this.#database.first(
      "SELECT version FROM events INDEXED BY events_by_stream WHERE stream = ? ORDER BY seq DESC LIMIT 1",
      id,
    );
    return { id, version: (newest?.[0] ?? 0) as number, fence, holder };
  }
}

function stale(stream: string, why: string): CorralError {
  return new CorralError("lease.stale", `The lease of ${stream} no longer holds: ${why}.`, {
    hint: "Take the lease again and go on from the stream as it is then.",
  });
}
