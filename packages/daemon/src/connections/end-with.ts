import type { Duplex } from "node:stream";

/** What was written is on its way long before; whoever has not closed the connection by then never may. */
const usualMs = 2_000;

/**
 * Says the last thing on a connection. It is closed when the other side has closed it, and soon in any case: one that neither reads nor
 * closes would keep its descriptor for ever. Closing at once could take the words with it.
 */
export function endWith(socket: Duplex, words: string, { lingerMs = usualMs } = {}): void {
  socket.on("error", () => socket.destroy());
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(linger));
  socket.end(words);
  // Nobody notices its end otherwise.
  socket.resume();
}
