import { CorralError, type ErrorDetails } from "@corral/protocol";

/** A failed model request. `retryAfterMs` is what the provider asked to wait, when it said so; the hint tells it too. */
export class ProviderFailure extends CorralError {
  readonly retryAfterMs: number | undefined;

  constructor(
    code: "provider.unavailable" | "provider.refused" | "provider.overflow",
    message: string,
    details: ErrorDetails & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, details);
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Asking again may help. */
export function unavailable(message: string, about: { cause?: unknown; retryAfterMs?: number | undefined } = {}) {
  const { cause, retryAfterMs } = about;
  return new ProviderFailure("provider.unavailable", message, {
    retry: "later",
    retryAfterMs,
    cause,
    ...(retryAfterMs === undefined ? {} : { hint: `The provider asks to wait ${Math.ceil(retryAfterMs / 1000)} s.` }),
  });
}

/** Asking the same again will not help. */
export function refused(message: string, hint: string, cause?: unknown) {
  return new ProviderFailure("provider.refused", message, { retry: "never", hint, cause });
}

/** The conversation is longer than the model can read; the same will not do, a shorter one will. */
export function overflowed(message: string) {
  return new ProviderFailure("provider.overflow", message, {
    retry: "never",
    hint: "Start a new session, or use a model with a larger context.",
  });
}

/** From the `retry-after` header: seconds or a date. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
