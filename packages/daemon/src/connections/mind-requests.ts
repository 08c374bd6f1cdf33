import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/**
 * Closes connections on which no request has come within the time: from the start, or since the one before was answered. Without a timer
 * as long as there are no connections.
 */
export function mindRequests(server: Server, longestMs: number): void {
  const known = new WeakMap<Duplex, Connection>();
  server.on("connection", (socket) => {
    const connection = new Connection(socket, longestMs);
    known.set(socket, connection);
    socket.once("close", () => connection.begun());
  });
  server.on("request", ({ socket }, response: ServerResponse) => {
    const connection = known.get(socket);
    connection?.begun();
    response.once("close", () => connection?.answered());
  });
  for (const taken of ["connect", "upgrade"] as const)
    server.on(taken, (_request: unknown, socket: Duplex) => known.get(socket)?.begun());
}

class Connection {
  readonly #socket: Duplex;
  readonly #longestMs: number;
  #deadline: NodeJS.Timeout | undefined;
  /** Requests may come before those ahead of them are answered. */
  #unanswered = 0;

  constructor(socket: Duplex, longestMs: number) {
    this.#socket = socket;
    this.#longestMs = longestMs;
    this.#wait();
  }

  begun(): void {
    this.#unanswered += 1;
    clearTimeout(this.#deadline);
  }

  answered(): void {
    this.#unanswered -= 1;
    if (this.#unanswered === 0 && !this.#socket.destroyed) this.#wait();
  }

  #wait(): void {
    this.#deadline = setTimeout(() => this.#socket.destroy(), this.#longestMs);
  }
}
