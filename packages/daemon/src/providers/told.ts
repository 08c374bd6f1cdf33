import { deepestJson, isTooDeep } from "@corral/protocol";
import { bounds } from "./bounds.ts";

/** An object of which nothing is known: what a server sent. */
export type Told = Readonly<Record<string, unknown>>;

/** Of anything that is no object: one without fields. */
export function fieldsOf(value: unknown): Told {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Told) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** An id, a name or a reason; of one that is too long, its beginning. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.slice(0, bounds.name) : undefined;
}

/** A value as JSON; a text is taken for JSON already. What is nested too deep to be written becomes something as deep, for the reader to refuse. */
export function jsonOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isTooDeep(value) ? tooDeep : JSON.stringify(value ?? {});
}

const tooDeep = `${'{"":'.repeat(deepestJson)}{}${"}".repeat(deepestJson)}`;

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A count of tokens. What cannot be one counts as none: a wrong count must not make a reply fail. */
export function tokensOf(value: unknown): number {
  const count = Math.round(numberOf(value) ?? 0);
  return count >= 0 && count <= bounds.tokens ? count : 0;
}

/** Counts by their names, those that are there. */
export function countsIn(usage: unknown, names: readonly string[]): Record<string, number> {
  const fields = fieldsOf(usage);
  return Object.fromEntries(
    names.flatMap((name) => (numberOf(fields[name]) === undefined ? [] : [[name, tokensOf(fields[name])]])),
  );
}
