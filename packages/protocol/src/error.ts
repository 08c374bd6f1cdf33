import type { Problem } from "./problem.ts";

/**
 * Every code an error may carry and the HTTP status it becomes. This is the one table:
 * nothing else in Corral decides a status.
 */
export const errorStatus = {
  "request.invalid": 400,
  "request.token-in-url": 400,
  "request.secret": 422,
  "auth.missing": 401,
  "auth.refused": 403,
  "auth.scope": 403,
  "not-found": 404,
  "route.unknown": 404,
  "request.timeout": 408,
  "idempotency.conflict": 409,
  "cursor.ahead": 409,
  "input.conflict": 409,
  "input.cancelled": 409,
  "input.changed": 409,
  "input.promoted": 409,
  "append.conflict": 409,
  "lease.stale": 409,
  "recovery.nothing": 409,
  "question.closed": 409,
  "session.busy": 409,
  "request.too-large": 413,
  "request.media-type": 415,
  "host.refused": 421,
  "request.range": 416,
  "stream.upgrade-needed": 426,
  "project.not-a-repo": 422,
  "project.no-worktree": 422,
  "project.missing": 422,
  "project.unreadable": 422,
  "project.unwritable": 422,
  "trust.changed": 409,
  "trust.needed": 409,
  "config.invalid": 422,
  "config.broken": 409,
  "model.unknown": 422,
  "login.throttled": 429,
  "auth.throttled": 429,
  "request.headers-too-large": 431,
  "jail.unavailable": 503,
  "descriptors.exhausted": 503,
  "daemon.stopping": 503,
  "daemon.unreachable": 503,
  "daemon.running": 409,
  "daemon.version": 409,
  "port.unusable": 409,
  "home.unusable": 500,
  "provider.unavailable": 502,
  "provider.refused": 502,
  /** The conversation is longer than the model can read. */
  "provider.overflow": 502,
  "credentials.unusable": 409,
  "credentials.exposed": 409,
  "environment.gone": 500,
  "environment.unkept": 422,
  "command.conflict": 409,
  "shell.closed": 409,
  "call.refused": 422,
  "file.missing": 404,
  "file.exists": 409,
  "file.changed": 409,
  "file.unsuitable": 422,
  "file.refused": 403,
  "file.too-large": 413,
  "file.failed": 500,
  "workspace.none": 409,
  "workspace.busy": 409,
  "workspace.foreign": 422,
  "workspace.conflict": 409,
  "workspace.overlap": 409,
  "workspace.full": 507,
  "workspace.unsuitable": 422,
  "workspace.refused": 422,
  "workspace.setup-failed": 409,
  "workspace.failed": 500,
  "artifact.expired": 410,
  "storage.missing": 404,
  "storage.too-large": 413,
  "storage.damaged": 500,
  "storage.full": 507,
  "storage.failed": 500,
  "log.closed": 503,
  "log.reader-too-slow": 503,
  "log.trimmed": 410,
  "log.full": 507,
  "log.unwritable": 503,
  "log.damaged": 500,
  "log.unchained": 409,
  "log.too-new": 500,
  "runner.lost": 500,
  "capability.missing": 501,
  "kind.unknown": 422,
  internal: 500,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof errorStatus;

/** Whether doing the same again may help: at once, after a while, or not without a change. */
export type Retry = "now" | "later" | "never";

export interface ErrorDetails {
  readonly retry?: Retry;
  readonly retryAfterSeconds?: number;
  readonly hint?: string;
  readonly cause?: unknown;
}

/** Says what went wrong (message), why (cause), whether to retry, and what to do (hint). */
export class CorralError extends Error {
  override readonly name = "CorralError";
  readonly code: ErrorCode;
  readonly retry: Retry;
  readonly retryAfterSeconds: number | undefined;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retry = details.retry ?? "never";
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.hint = details.hint;
  }

  toProblem(): Problem {
    return {
      type: `urn:corral:error:${this.code}`,
      title: this.message,
      status: errorStatus[this.code],
      code: this.code,
      retry: this.retry,
      ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
    };
  }

  static fromProblem(document: Problem): CorralError {
    const known = Object.hasOwn(errorStatus, document.code) ? (document.code as ErrorCode) : unnamed(document.status);
    const message = document.detail === undefined ? document.title : `${document.title}: ${document.detail}`;
    return new CorralError(known, message, {
      retry: document.retry,
      ...(document.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: document.retryAfterSeconds }),
      ...(document.hint === undefined ? {} : { hint: document.hint }),
    });
  }
}

/** A newer daemon may have a reason that has no name here; whether it was a refusal or a failure is told by the status. */
function unnamed(status: number): ErrorCode {
  return status < 500 ? "request.invalid" : "internal";
}
