/** What the source gives until it ends, or until the signal, which does not wait for a source that gives nothing. */
export async function* piecesOf(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  signal?.throwIfAborted();
  if (signal === undefined) {
    yield* source;
    return;
  }
  const iterator = source[Symbol.asyncIterator]();
  const abort = aborted(signal);
  let ended = false;
  try {
    while (true) {
      const next = await Promise.race([iterator.next(), abort.reason]);
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    abort.forget();
    if (!ended) void iterator.return?.().catch(() => {});
  }
}

function aborted(signal: AbortSignal): { readonly reason: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const tell = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
  signal.addEventListener("abort", tell, { once: true });
  promise.catch(() => {});
  return { reason: promise, forget: () => signal.removeEventListener("abort", tell) };
}
