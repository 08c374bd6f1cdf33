/**
 * Old events in today's shape. An event is stored with its type's version at that time and stays as it is; whoever
 * reads it gets it lifted. A lift is pure and never changes once events of its version exist: `golden/` holds one
 * event of each type and version ever written, with what it must become.
 */

/** Data of one version to data of the next. */
export type Lift = (data: never) => unknown;

/** For each type that has changed its shape, its lifts: the first takes version 1 to version 2, and so on. */
export type Lifts = Readonly<Record<string, readonly Lift[]>>;

/** Types that are not listed are at version 1. To change a shape: add a lift here, a golden file, and the new schema. */
export const lifts: Lifts = {
  "environment.opened": [
    ({ state }: { state: object }) => ({ state: { ...state, version: 2, access: "write", cgroups: [] } }),
  ],
};

/** The version that events of this type are written with. */
export function versionOf(type: string, table: Lifts = lifts): number {
  return 1 + liftsOf(type, table).length;
}

interface Versioned {
  readonly type: string;
  readonly typeVersion: number;
  readonly data: unknown;
}

/** The event at its type's present version. Unknown types and versions of a newer program are passed on as they are. */
export function lift<E extends Versioned>(stored: E, table: Lifts = lifts): E {
  const pending = liftsOf(stored.type, table).slice(stored.typeVersion - 1);
  if (pending.length === 0) return stored;
  const data = pending.reduce((older: unknown, next) => next(older as never), stored.data);
  return { ...stored, typeVersion: stored.typeVersion + pending.length, data };
}

const none: readonly Lift[] = [];

function liftsOf(type: string, table: Lifts): readonly Lift[] {
  return Object.hasOwn(table, type) ? table[type]! : none;
}
