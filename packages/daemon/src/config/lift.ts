import { configVersion } from "@corral/protocol";

/** One value of a file, by its path in it. */
export interface Placed {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly line: number;
  readonly column: number;
  /** Where it stands in the text, which a lift does not change. */
  readonly source: readonly string[];
}

/** Makes of what a file of one version says what a file of the next would say. Pure; places stay with their values. */
type Lift = (said: readonly Placed[]) => readonly Placed[];

/**
 * The lift at index N takes version N to N + 1. Version 0 is a file that names no version: keys may be written with
 * dots there, as the command line does.
 */
const lifts: readonly Lift[] = [
  (said) => said.map((each) => ({ ...each, path: each.path.flatMap((name) => name.split(".")) })),
];

export function lift(said: readonly Placed[], from: number): readonly Placed[] {
  return lifts.slice(from, configVersion).reduce((lifted, next) => next(lifted), said);
}
