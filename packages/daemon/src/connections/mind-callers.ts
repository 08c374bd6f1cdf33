import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * The connections to a server that anybody on the machine can reach. Each one has a last deadline:
 *
 * 1. A caller that has not proved who it is has a certain time for everything. Of those callers there are only so many at once: the one that
 *    came first makes room for the next one. So whoever opens thousands of connections pushes out their own, and a person who says
 *    at once who they are gets in.
 * 2. A caller that takes nothing of its answer is dropped, however much it sends. A slow one is not.
 * 3. A caller that asks for nothing is dropped some time after its last answer.
 *
 * There is no timer while there are no connections.
 */
export interface Callers {
  /** The caller has proved who it is. */
  recognise(socket: Duplex): void;
  /** Somebody else minds this caller from now on, if it has proved who it is. */
  release(socket: Duplex): void;
  /** Whether part of an answer is out, so that no other answer can be given. */
  isBeingAnswered(socket: Duplex): boolean;
}

export interface CallerLimits {
  /** Most connections at once whose callers have not proved who they are. */
  readonly strangers: number;
  readonly strangerMs: number;
  /** How long a caller may take nothing of an answer. */
  readonly stalledMs: number;
  /** How long a caller may ask for nothing after it was answered. */
  readonly idleMs: number;
}

export function mindCallers(server: Server, limits: CallerLimits): Callers {
  const callers = new WeakMap<Duplex, Caller>();
  /** In the order in which they came. */
  const strangers = new Set<Caller>();
  server.on("connection", (socket) => {
    const caller = new Caller(socket, limits);
    callers.set(socket, caller);
    strangers.add(caller);
    socket.once("close", () => {
      strangers.delete(caller);
      caller.forget();
    });
    const [first] = strangers;
    if (strangers.size > limits.strangers) first?.drop();
  });
  server.on("request", ({ socket }, response) => callers.get(socket)?.answer(response));

  return {
    recognise(socket) {
      const caller = callers.get(socket);
      if (caller === undefined || !strangers.delete(caller)) return;
      caller.recognise();
    },
    release(socket) {
      const caller = callers.get(socket);
      if (caller === undefined || strangers.has(caller)) return;
      caller.forget();
      callers.delete(socket);
    },
    isBeingAnswered: (socket) => callers.get(socket)?.isBeingAnswered ?? false,
  };
}

class Caller {
  readonly #socket: Socket;
  readonly #limits: CallerLimits;
  readonly #answers = new Set<ServerResponse>();
  readonly #strange: NodeJS.Timeout;
  /** Looks whether answers are taken as long as there are any; afterwards the deadline for the next request. */
  #watch: NodeJS.Timeout | undefined;
  #taken = 0;
  #stuckMs = 0;
  #isForgotten = false;

  constructor(socket: Socket, limits: CallerLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#strange = setTimeout(() => socket.destroy(), limits.strangerMs).unref();
  }

  get isBeingAnswered(): boolean {
    return [...this.#answers].some(({ headersSent }) => headersSent);
  }

  recognise(): void {
    clearTimeout(this.#strange);
  }

  drop(): void {
    this.#socket.destroy();
  }

  forget(): void {
    this.#isForgotten = true;
    clearTimeout(this.#strange);
    clearTimeout(this.#watch);
  }

  answer(response: ServerResponse): void {
    if (this.#isForgotten) return;
    this.#answers.add(response);
    if (this.#answers.size === 1) this.#look();
    response.once("close", () => {
      this.#answers.delete(response);
      if (this.#answers.size === 0) this.#awaitRequest();
    });
  }

  #look(): void {
    clearTimeout(this.#watch);
    this.#stuckMs = 0;
    this.#watch = setInterval(() => this.#mindStall(), this.#limits.stalledMs / looks).unref();
  }

  #mindStall(): void {
    const taken = takenBytes(this.#socket);
    const isStuck = this.#socket.writableLength > 0 && taken === this.#taken;
    this.#taken = taken;
    this.#stuckMs = isStuck ? this.#stuckMs + this.#limits.stalledMs / looks : 0;
    if (this.#stuckMs >= this.#limits.stalledMs) this.drop();
  }

  #awaitRequest(): void {
    clearTimeout(this.#watch);
    if (!this.#isForgotten) this.#watch = setTimeout(() => this.drop(), this.#limits.idleMs).unref();
  }
}

/** How often in its time a caller that takes nothing is looked at. */
const looks = 4;

/**
 * Grows with every byte that the kernel takes. Node tells of a write only when all of it is taken, so a long answer to a slow reader looks
 * the same for minutes; what is left of the write is known to its handle alone.
 */
function takenBytes(socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }): number {
  return socket.bytesWritten - socket.writableLength - (socket._handle?.writeQueueSize ?? 0);
}
