import type { ArtifactId } from "@corral/protocol";
import { addressOf, routeOf } from "./address.ts";
import { connectionLost } from "./connection.ts";
import type { Transport, Waiting } from "./transport.ts";

export interface ReadArtifact extends Waiting {
  /** The first byte, counted from 0; without: all of them. */
  readonly from?: number;
  /** Up to and without this one. */
  readonly to?: number;
}

/** An artifact's bytes as they come. One that ends without an error is whole; a break in the middle is `daemon.unreachable`. */
export async function* readArtifact(
  transport: Transport,
  id: ArtifactId,
  { from, to, signal }: ReadArtifact = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const range =
    from === undefined && to === undefined ? {} : { range: `bytes=${from ?? 0}-${to === undefined ? "" : to - 1}` };
  const path = addressOf(routeOf("artifacts.read"), [id]);
  const reader = (await transport.send({ method: "GET", path, signal, headers: range })).body?.getReader();
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return;
      if (value !== undefined) yield value;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionLost(error);
  } finally {
    await reader?.cancel?.().catch(() => undefined);
  }
}
