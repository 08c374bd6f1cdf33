/** How benchmarks speak and judge, all in the same words. */

export type Outcome = "met" | "missed";

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Says whether a bar was met and the figure that it was held against. */
export function judge(met: boolean, sentence: string): boolean {
  say(`${met ? "PASS" : "FAIL"}  ${sentence}`);
  return met;
}

export function atMost(what: string, value: number, bar: number, unit = "×"): boolean {
  return judge(value <= bar, `${what}: ${figure(value)}${unit} (at most ${bar}${unit})`);
}

export function atLeast(what: string, value: number, bar: number, unit = "×"): boolean {
  return judge(value >= bar, `${what}: ${figure(value)}${unit} (at least ${bar}${unit})`);
}

export function allMet(bars: readonly boolean[]): Outcome {
  return bars.every(Boolean) ? "met" : "missed";
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function figure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 0.1 ? 3 : 2);
}
