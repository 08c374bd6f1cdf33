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

function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}
