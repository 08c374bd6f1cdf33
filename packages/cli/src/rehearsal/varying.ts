/**
 * What two performances of the same differ in by nature. It is looked for in what came of calls and in what Corral told the model; what
 * the model said and asked for has to be the same to the letter.
 */
interface Varying {
  readonly name: string;
  readonly pattern: RegExp;
}

const varying: readonly Varying[] = [
  { name: "times", pattern: /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?)?/g },
  { name: "times", pattern: /\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g },
  { name: "durations", pattern: /\bduration_ms:? \d+(?:\.\d+)?/g },
  { name: "durations", pattern: /\b\d+(?:\.\d+)? ?(?:ms|µs|s|secs?|seconds?)\b/g },
  // Their hashes take in when they were made.
  { name: "commits", pattern: /^commit [0-9a-f]{40}\b/gm },
  { name: "commits", pattern: /^\[\S+ (?:\(root-commit\) )?[0-9a-f]{7,40}\]/gm },
  { name: "commits", pattern: /^Git: branch \S+ at [0-9a-f]{12}/gm },
];

/** Fields of results that tell how long something took. */
const measured = new Set(["durationMs"]);

/** A value as JSON, with the names of what varies in the place of it. */
export function steadied(value: unknown, ignored?: RegExp): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, held: unknown) {
    if (measured.has(key)) return undefined;
    const counted = this[lengthOf.get(key) ?? ""];
    if (typeof counted === "string" && steady(counted, ignored) !== counted) return "(as many as there are)";
    return typeof held === "string" ? steady(held, ignored) : held;
  });
}

/** Fields that count what is in another, which may hold something that varies. */
const lengthOf = new Map([
  ["stdoutBytes", "stdout"],
  ["stderrBytes", "stderr"],
]);

function steady(text: string, ignored: RegExp | undefined): string {
  const left = ignored === undefined ? text : text.replaceAll(ignored, "(ignored)");
  return varying.reduce((rest, { name, pattern }) => rest.replaceAll(pattern, `(${name})`), left);
}

/** Corral's own ids, wherever they turn up: each is called by its kind and by when it came up first. */
export class IdNames {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  in(text: string): string {
    return text.replaceAll(anId, (id, kind: string) => {
      const known = this.#names.get(id);
      if (known !== undefined) return known;
      const count = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, count);
      const name = `(${kind} ${count})`;
      this.#names.set(id, name);
      return name;
    });
  }
}

const anId = /\b(prj|ses|inp|act|trn|prt|cal|env|shl|cmd|trm|snp|art|stp|que|ans|rul)_[0-9a-z]{26,40}(?![0-9a-z])/g;
