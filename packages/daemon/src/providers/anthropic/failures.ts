import { APICallError, EmptyResponseBodyError, JSONParseError, TypeValidationError } from "@ai-sdk/provider";
import { ProviderFailure, refused, retryAfterMs, unavailable } from "../failure.ts";

/**
 * What went wrong, in the port's two classes. The SDK's own error is never passed on as a cause: it
 * carries the whole request. A key that a server repeats in its answer is masked. `now` turns a date in
 * `retry-after` into a time to wait.
 */
export function toFailure(error: unknown, { key, now }: { readonly key: string; readonly now: number }) {
  const said = inFewWords(messageOf(error).replaceAll(key, "***"));
  const own = ownFailure(error);
  if (own !== undefined) return own;
  if (APICallError.isInstance(error)) {
    const wait = retryAfterMs(error.responseHeaders?.["retry-after"], now);
    // A status of success with an error: the body broke while it was read.
    const status = error.statusCode !== undefined && error.statusCode < 300 ? undefined : error.statusCode;
    if (EmptyResponseBodyError.isInstance(error.cause)) return unavailable("Anthropic's reply was empty.");
    return status === undefined ? unreachable(error.cause) : byStatus(status, said, wait);
  }
  if (isStreamError(error)) return byStatus(error.statusCode ?? 500, said, undefined);
  if (codeOf(error) !== undefined) return unreachable(error);
  if (
    isParseError(error) ||
    JSONParseError.isInstance(error) ||
    TypeValidationError.isInstance(error) ||
    isUnreadable(error)
  )
    return unavailable("Anthropic's reply could not be understood.");
  return refused(`The request could not be made: ${said}`, "This is a defect; please report it.");
}

function byStatus(status: number, said: string, wait: number | undefined): ProviderFailure {
  if (status === 429) return unavailable(`Anthropic limits the rate: ${said}`, { retryAfterMs: wait });
  if (status === 529) return unavailable(`Anthropic is overloaded: ${said}`, { retryAfterMs: wait });
  if (status >= 500 || status === 408 || status === 409)
    return unavailable(`Anthropic failed with status ${status}: ${said}`, { retryAfterMs: wait });
  return refused(`Anthropic refused the request with status ${status}: ${said}`, hintFor(status));
}

function hintFor(status: number): string {
  if (status < 400) return "Check ANTHROPIC_BASE_URL: what answers there is no model server.";
  switch (status) {
    case 401:
      return "Set ANTHROPIC_API_KEY to a valid key.";
    case 403:
      return "The key in ANTHROPIC_API_KEY has no permission for this; use another key or model.";
    case 404:
      return "Check the model's name and ANTHROPIC_BASE_URL.";
    case 413:
      return "The conversation is too large for one request; start a new session.";
    default:
      return "The request itself is not acceptable; asking the same again will not help.";
  }
}

/** A failure that the transport already put into words, which may lie below the SDK's. */
function ownFailure(error: unknown): ProviderFailure | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof ProviderFailure) return at;
  return undefined;
}

function unreachable(cause: unknown): ProviderFailure {
  const code = codeOf(cause);
  return unavailable(`The connection to Anthropic failed${code === undefined ? "" : ` (${code})`}.`);
}

/** The code of a system error, which may lie below others. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if ("code" in at && typeof at.code === "string" && /^(E[A-Z]|UND_ERR)/.test(at.code) && !at.code.startsWith("ERR_"))
      return at.code;
  return undefined;
}

/** The SDK's plain object for an error event in the middle of a stream. */
function isStreamError(error: unknown): error is { message: string; statusCode?: number } {
  return typeof error === "object" && error !== null && !(error instanceof Error) && "message" in error;
}

/** How the SDK says that the very first event was not JSON or of no known type. */
function isUnreadable(error: unknown): boolean {
  return /normalized Anthropic stream error|^Unsupported (chunk|content block|delta) type/.test(messageOf(error));
}

/** How Node says that an answer is no HTTP. */
function isParseError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
}

/** A server may say as much as it likes; the log keeps its beginning. */
function inFewWords(text: string): string {
  if (text.trim() === "") return "it gives no reason";
  return text.length <= 1_000 ? text : `${text.slice(0, 1_000)}…`;
}

function messageOf(error: unknown): string {
  return error instanceof Error || isStreamError(error) ? error.message : String(error);
}
