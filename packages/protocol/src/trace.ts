/**
 * Traces as W3C Trace Context has them: one id, made where something begins, goes along with every request and into
 * every event that comes of it.
 */

/** 32 hexadecimal digits. */
export type TraceId = string;

export function newTraceId(): TraceId {
  return hex(16);
}

/** The `traceparent` header of one request within a trace. */
export function traceparent(trace: TraceId): string {
  return `00-${trace}-${hex(8)}-01`;
}

/** The trace that a `traceparent` header names; nothing when it is not one. */
export function traceOf(header: unknown): TraceId | undefined {
  const parts = typeof header === "string" ? shape.exec(header) : null;
  const [, version, trace, parent] = parts ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(parent ?? "")) return undefined;
  return /^0+$/.test(trace ?? "") ? undefined : trace;
}

/** A later version may have more fields; those known stay where they are. */
const shape = /^(?!00-.{52}.)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.{0,200})?$/;

/** Unique, which is all it needs to be: it is no secret, and a quick command should not load cryptography for it. */
function hex(bytes: number): string {
  let digits = "";
  while (digits.length < bytes * 2) digits += Math.floor(Math.random() * 16).toString(16);
  return digits;
}
