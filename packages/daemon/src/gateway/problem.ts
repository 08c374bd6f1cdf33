import { CorralError, type ErrorCode, type Problem, type TraceId } from "@corral/protocol";
import type { FastifyReply } from "fastify";
import { InvalidRequest } from "./schemas.ts";

/** Any error as the document that a client gets. Nothing unexpected lets its text or stack out: the daemon's log has it. */
export function problemOf(error: unknown, traceId?: TraceId): Problem {
  if (error instanceof CorralError) return error.toProblem();
  if (error instanceof InvalidRequest) return invalid(error);
  const code = frameworkCode(error);
  if (code !== undefined) return new CorralError(code, messageOf(error), hintOf(code)).toProblem();
  return unexpected(traceId).toProblem();
}

export function sendProblem(reply: FastifyReply, document: Problem): FastifyReply {
  if (document.retryAfterSeconds !== undefined) void reply.header("retry-after", document.retryAfterSeconds);
  if (reply.request.headers.upgrade !== undefined) closeAfter(reply);
  // Pre-encoded: a route's own response schemas do not describe problems.
  return reply
    .code(document.status)
    .type("application/problem+json")
    .serializer((encoded) => String(encoded))
    .send(JSON.stringify(document));
}

/** A connection on which another protocol was asked for is not read as HTTP any more, and nobody else closes it. */
function closeAfter(reply: FastifyReply): void {
  const { socket } = reply.request.raw;
  reply.header("connection", "close").raw.once("finish", () => socket.destroySoon());
}

/** What a socket gets whose bytes were no HTTP request, or came too late or too many. */
export function refusalOf({ code }: { code?: string }): string {
  if (code === "HPE_HEADER_OVERFLOW")
    return rawProblem(new CorralError("request.headers-too-large", "Too many headers"));
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return rawProblem(tooSlow());
  return rawProblem(new CorralError("request.invalid", "That was no HTTP request"));
}

function tooSlow(): CorralError {
  return new CorralError("request.timeout", "The request did not come in time, and nothing of it was done", {
    retry: "now",
    hint: "Ask again; the machine, or who asked, may be busy",
  });
}

function rawProblem(error: CorralError): string {
  const document = error.toProblem();
  const body = JSON.stringify(document);
  return [
    `HTTP/1.1 ${document.status} Refused`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** Whether it concerns the client alone; of what is wrong with the daemon or its files the operator hears too. */
export function isExpected(error: unknown): boolean {
  return !["internal", "log.unwritable", "log.damaged"].includes(problemOf(error).code);
}

function unexpected(traceId: TraceId | undefined): CorralError {
  return new CorralError("internal", "The daemon made a mistake", {
    retry: "later",
    hint: `The daemon's log says more${traceId === undefined ? "" : ` about trace ${traceId}`}`,
  });
}

function invalid({ message: title, issues }: InvalidRequest): Problem {
  const found = issues.map(({ path, message }) => `${path.length === 0 ? "the whole" : path.join(".")}: ${message}`);
  return {
    ...new CorralError("request.invalid", title, {
      hint: "GET /api/openapi.json describes every request",
    }).toProblem(),
    detail: found.join("; "),
  };
}

/** Errors of the HTTP framework that are the client's; all others are the daemon's. */
function frameworkCode(error: unknown): ErrorCode | undefined {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return "request.too-large";
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return "request.media-type";
  return statusCode === 400 || statusCode === 414 || code === "FST_ERR_BAD_URL" ? "request.invalid" : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "The request cannot be read";
}

function hintOf(code: ErrorCode): { hint?: string } {
  return code === "request.too-large" ? { hint: `A request may have at most ${bodyLimit} bytes` } : {};
}

export const bodyLimit = 2 * 1024 * 1024;

export function unknownRoute(method: string): CorralError {
  return new CorralError("route.unknown", `Nothing answers ${method} at this path`, {
    hint: "GET /api/openapi.json lists what does",
  });
}
