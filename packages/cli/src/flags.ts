import type { ArgsDef } from "citty";

/** Wrong use of a command: exit code 2. */
export class UsageError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Throws for flags that the command does not have, for values missing, and for a second value where there is but one. */
export function checkFlags(rawArgs: readonly string[], definitions: ArgsDef, repeatable: readonly string[] = []): void {
  const known = new Map(Object.entries(definitions).filter(([, { type }]) => type !== "positional"));
  const short = new Map(
    [...known].flatMap(([name, definition]) => ("alias" in definition ? [[`-${String(definition.alias)}`, name]] : [])),
  );
  const given = new Set<string>();
  for (let index = 0; index < rawArgs.length; index++) {
    const raw = rawArgs[index] ?? "";
    if (raw === "--") return;
    if (!raw.startsWith("-") || raw === "-") continue;
    const [flag = ""] = raw.split("=", 1);
    const name = short.get(flag) ?? flag.replace(/^--/, "");
    const definition = known.get(name);
    if (definition === undefined) throw unknownFlag(flag, [...known.keys()]);
    if (definition.type === "boolean" && raw.includes("=")) throw new UsageError(`${flag} takes no value`);
    if (definition.type !== "string") continue;
    if (given.has(name) && !repeatable.includes(name)) throw new UsageError(`${flag} is given twice`);
    given.add(name);
    if (raw.includes("=")) continue;
    const value = rawArgs[++index];
    if (value === undefined || (value.startsWith("--") && !short.has(flag)))
      throw new UsageError(`${flag} needs a value`);
  }
}

/** All values of a flag that may be given more than once. */
export function valuesOf(rawArgs: readonly string[], name: string): readonly string[] {
  const end = rawArgs.indexOf("--");
  const given = end < 0 ? rawArgs : rawArgs.slice(0, end);
  return given.flatMap((word, at) => {
    if (word.startsWith(`--${name}=`)) return [word.slice(name.length + 3)];
    return word === `--${name}` ? given.slice(at + 1, at + 2) : [];
  });
}

function unknownFlag(flag: string, known: readonly string[]): UsageError {
  const near = nearest(flag.replace(/^-+/, ""), known);
  const meant = near === undefined ? "" : `Did you mean --${near}? `;
  return new UsageError(`unknown flag ${flag}`, `${meant}Words after \`--\` are never flags`);
}

/** The candidate that is a slip of the fingers away. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({ candidate, distance: distance(word, candidate) }));
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** One of the words that the schema takes, or a complaint about the flag. */
export function oneOf<T>(
  flag: string,
  given: string | boolean | undefined,
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  expected: string,
): T | undefined {
  if (given === undefined) return undefined;
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw new UsageError(`--${flag} needs ${expected}, not ${JSON.stringify(given)}`);
  return parsed.data;
}

/** A whole number, or a complaint about the flag. */
export function wholeNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${flag} needs a whole number, not ${JSON.stringify(value)}`);
  return Number(value);
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1);
      rows[i]![j] = least;
    }
  }
  return at(a.length, b.length);
}
