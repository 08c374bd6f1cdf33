import type { CommandNews, Delta, Gap, Problem, WireEvent } from "@corral/protocol";

/**
 * Whether what came over the wire is what it should be, as far as this package relies on it. By hand, for the schemas
 * turn themselves into code where they may, and a page under a strict policy may not.
 */
export function isEvent(value: unknown): value is WireEvent {
  return (
    isRecord(value) && isWhole(value["seq"]) && isText(value["type"]) && isText(value["stream"]) && "data" in value
  );
}

export function isGap(value: unknown): value is Gap {
  return isRecord(value) && isWhole(value["from"]) && isWhole(value["to"]);
}

/** A newer daemon may have more kinds, which are not taken. */
export function isDelta(value: unknown): value is Delta {
  return (
    isRecord(value) &&
    isText(value["kind"]) &&
    Object.hasOwn(kindsOfDelta, value["kind"]) &&
    isText(value["part"]) &&
    isText(value["text"]) &&
    isWhole(value["offset"])
  );
}

const kindsOfDelta: Readonly<Record<Delta["kind"], true>> = { text: true, reasoning: true, stdout: true, stderr: true };

export function isCommandNews(value: unknown): value is CommandNews {
  if (!isRecord(value)) return false;
  const { kind, stream, text, bytes, command } = value;
  if (kind === "output")
    return (stream === "stdout" || stream === "stderr") && isText(text) && (bytes === undefined || isText(bytes));
  return kind === "command" && isRecord(command) && isText(command["id"]) && isText(command["state"]);
}

export function isProblem(value: unknown): value is Problem {
  return isRecord(value) && isText(value["code"]) && isText(value["title"]) && isText(value["retry"]);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
