import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import { overflowed, ProviderFailure, refused, retryAfterMs, unavailable } from "./failure.ts";
import type { Naming } from "./port.ts";

export interface Circumstances {
  readonly naming: Naming;
  readonly key: string | undefined;
  readonly now: number;
}

/**
 * What went wrong, in the port's classes. The SDK's own error is never passed on as a cause: it carries the whole
 * request. A key that a server repeats in its answer is masked. `now` turns a date in `retry-after` into a time to wait.
 */
export function toFailure(error: unknown, { naming, key, now }: Circumstances): ProviderFailure {
  const { label } = naming;
  const said = inFewWords(masked(messageOf(error), key));
  const own = ownFailure(error);
  if (own !== undefined) return own;
  if (APICallError.isInstance(error)) {
    // A status of success with an error: the body broke while it was read.
    const status = error.statusCode !== undefined && error.statusCode < 300 ? undefined : error.statusCode;
    if (EmptyResponseBodyError.isInstance(error.cause)) return unavailable(`${label}'s reply was empty.`);
    if (status === undefined) return unreachable(naming, error.cause);
    const about = { status, said, details: detailsOf(error), wait: waitOf(error, now) };
    return byStatus(naming, about);
  }
  if (isStreamError(error)) return byStatus(naming, { status: statusOf(error), said, details: detailsOf(error) });
  if (codeOf(error) !== undefined) return unreachable(naming, error);
  if (isNonsense(error)) return unavailable(`${label}'s reply could not be understood.`);
  return refused(`The request could not be made: ${said}`, "This is a defect; please report it.");
}

interface Answered {
  readonly status: number;
  readonly said: string;
  /** All that the server said of it, codes included. */
  readonly details: string;
  readonly wait?: number | undefined;
}

function byStatus(naming: Naming, { status, said, details, wait }: Answered): ProviderFailure {
  const { label } = naming;
  if (status === 413 || (status < 500 && status !== 429 && isOverflow(`${said} ${details}`)))
    return overflowed(`The conversation is too long for the model: ${said}`);
  if (/insufficient_quota/.test(details))
    return refused(
      `${label} has no quota left for this key: ${said}`,
      "Look at the plan and the billing of the account.",
    );
  if (status === 429) return unavailable(`${label} limits the rate: ${said}`, { retryAfterMs: wait });
  if (status === 529) return unavailable(`${label} is overloaded: ${said}`, { retryAfterMs: wait });
  if (status >= 500 || status === 408 || status === 409)
    return unavailable(`${label} failed with status ${status}: ${said}`, { retryAfterMs: wait });
  return refused(
    `${label} refused the request with status ${status}: ${said}`,
    isAboutImages(status, said) ? imagesHint : hintFor(naming, status),
  );
}

/** It would refuse every later request of the conversation, too. */
function isAboutImages(status: number, said: string): boolean {
  return (status === 400 || status === 422) && /\b(image|images|image_url|vision|multimodal)\b/i.test(said);
}

const imagesHint =
  'If the model cannot look at images, say so with "images": false of it in the setting models: then it is told of them in words.';

/** How servers say that a conversation is longer than their model can read; few have a code for it. */
function isOverflow(told: string): boolean {
  return overflowWords.some((words) => words.test(told));
}

const overflowWords: readonly RegExp[] = [
  /context_length_exceeded|exceed_context_size|model_context_window_exceeded/,
  /prompt is too long|input is too long/i,
  /maximum context length|(exceeds?|larger than) (the |its )?(model's |available )?(maximum )?context (window|length|size)/i,
  /input token count .*exceeds/i,
];

function hintFor({ keyHint, baseHint }: Naming, status: number): string {
  if (status < 400) return `Check ${baseHint}: what answers there is no model server.`;
  switch (status) {
    case 401:
      return keyHint;
    case 403:
      return "The key has no permission for this; use another key or model.";
    case 404:
      return `Check the model's name and ${baseHint}.`;
    default:
      return "The request itself is not acceptable; asking the same again will not help.";
  }
}

/** What the server asks to wait: by header, or as Google says it in the body. */
function waitOf(error: APICallError, now: number): number | undefined {
  const { responseHeaders: headers = {} } = error;
  const ms = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && Number.isFinite(ms)) return Math.max(0, ms);
  const delay = /"retryDelay":\s*"([\d.]+)s"/.exec(error.responseBody ?? "")?.[1];
  return retryAfterMs(headers["retry-after"] ?? delay, now);
}

function detailsOf(error: { readonly data?: unknown; readonly responseBody?: string | undefined }): string {
  return (error.responseBody ?? JSON.stringify(error.data ?? error)).slice(0, 10_000);
}

/** In a stream some name only the kind of their error. */
function statusOf({ statusCode, type, code }: StreamError): number {
  if (statusCode !== undefined) return statusCode;
  if (typeof code === "number" && code >= 400 && code <= 599) return code;
  const kind = `${String(type)} ${String(code)}`;
  if (/invalid|context_length|exceed_context/.test(kind)) return 400;
  if (/authentication/.test(kind)) return 401;
  if (/permission/.test(kind)) return 403;
  if (/not_found/.test(kind)) return 404;
  return /rate_limit|quota/.test(kind) ? 429 : 500;
}

function masked(text: string, key: string | undefined): string {
  return key === undefined || key === "" ? text : text.replaceAll(key, "***");
}

/** A failure that the transport already put into words, which may lie below the SDK's. */
function ownFailure(error: unknown): ProviderFailure | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof ProviderFailure) return at;
  return undefined;
}

function unreachable({ label }: Naming, cause: unknown): ProviderFailure {
  const code = codeOf(cause);
  return unavailable(`The connection to ${label} failed${code === undefined ? "" : ` (${code})`}.`);
}

/** The code of a system error, which may lie below others. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if ("code" in at && typeof at.code === "string" && /^(E[A-Z]|UND_ERR)/.test(at.code) && !at.code.startsWith("ERR_"))
      return at.code;
  return undefined;
}

interface StreamError {
  readonly message: string;
  readonly statusCode?: number;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly data?: unknown;
}

/** The SDK's plain object for an error event in the middle of a stream. */
function isStreamError(error: unknown): error is StreamError {
  return typeof error === "object" && error !== null && !(error instanceof Error) && "message" in error;
}

/** The reply is not what it should be: no HTTP, no JSON, no known event, without its end. */
function isNonsense(error: unknown): boolean {
  return (
    isParseError(error) ||
    JSONParseError.isInstance(error) ||
    TypeValidationError.isInstance(error) ||
    InvalidResponseDataError.isInstance(error) ||
    isUnreadable(error)
  );
}

/** How an SDK says that the very first event was not JSON or of no known type. */
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
