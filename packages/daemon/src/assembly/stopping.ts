import type { StopHow } from "./port.ts";

/** Somebody's wish that the daemon stops. Said again it joins, and `now` hurries. */
export interface Stopping {
  ask(how: StopHow): void;
  readonly asked: Promise<void>;
  /** Aborted when there is no time left. */
  readonly hurry: AbortSignal;
}

export function openStopping(): Stopping {
  const asked = Promise.withResolvers<void>();
  const hurry = new AbortController();
  return {
    ask({ now = false }) {
      if (now) hurry.abort();
      asked.resolve();
    },
    asked: asked.promise,
    hurry: hurry.signal,
  };
}
