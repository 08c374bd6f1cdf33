import type { CapabilityName } from "../capabilities/port.ts";
import type { Parts, RouteGroup, Slice } from "./port.ts";

/** A slice as it says what it is. */
export function defineSlice<
  const Name extends keyof Parts,
  const Needs extends keyof Parts,
  const Routes extends readonly RouteGroup[] = readonly [],
  const Provided extends CapabilityName = never,
>(slice: Slice<Name, Needs, Routes, Provided>): Slice<Name, Needs, Routes, Provided> {
  return slice;
}

/** A list of slices. */
type List = readonly AnySlice[];
// oxlint-disable-next-line typescript/no-explicit-any
type AnySlice = Slice<any, any, any, any>;

/** The part that a slice of the list makes. */
type MadeBy<L extends List> = { [S in L[number] as S["name"]]: Parts[S["name"]] };
/** The names of the capabilities that the list provides. */
export type ProvidedBy<L extends List> = L[number] extends infer S
  ? S extends Slice<infer _N, infer _D, infer _R, infer Provided>
    ? Provided
    : never
  : never;
/** The names of the routes that the list answers. */
export type HandledBy<L extends List> = L[number] extends infer S
  ? S extends { readonly routes?: infer Routes }
    ? Routes extends readonly ((needs: never) => infer Handlers)[]
      ? Handlers extends unknown
        ? keyof Handlers
        : never
      : never
    : never
  : never;

/** All that the routes of the list are made of. */
export type NeedsOfRoutes<L extends List> = All<
  L[number] extends infer S
    ? S extends { readonly routes?: infer Routes }
      ? Routes extends readonly ((needs: infer Needs) => unknown)[]
        ? Needs
        : never
      : never
    : never
>;
type All<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer I) => void ? I : never;

/** What no slice makes. */
export type Given = Omit<Partial<Parts>, "projections" | "routes">;

/** Slices that are open. */
export interface Assembled<P> {
  readonly parts: P;
  /** Mends what a killed daemon left, begins all work, and resolves when everything serves. What is to be done in the background follows. */
  begin(): Promise<void>;
  /** Stops, settles and closes everything. `hurry` aborts when there is no time left; also in the middle. */
  stop(hurry: AbortSignal): Promise<void>;
}

const cleanUpMs = 3_600_000;

/**
 * Opens a list of slices.
 *
 * 1. Each is opened from parts that are given or that slices earlier in the list made. A list in another order is refused before anything is opened.
 * 2. `begin` goes through the list in order, phase by phase; `stop` in reverse.
 * 3. What is given under the name of a slice takes its place: nothing of that slice but its projections and its routes is used.
 */
export async function openSlices<const L extends List, G extends Given>(
  list: L,
  given: G,
): Promise<Assembled<MadeBy<L> & G>> {
  const used = list.filter(({ name }) => !Object.hasOwn(given, name as string));
  mustBeInOrder(used, Object.keys(given));
  const parts: Record<string, unknown> = {
    ...given,
    projections: list.flatMap(({ projections = [] }) => projections),
    routes: routesOf(list),
  };
  const open: Open[] = [];
  for (const slice of used) {
    const needs = Object.fromEntries((slice.needs as readonly string[]).map((name) => [name, parts[name]])) as never;
    const part = (parts[slice.name as string] = await slice.open(needs)) as never;
    open.push({ slice, part, needs });
    const { capabilities } = parts as Partial<Pick<Parts, "capabilities">>;
    if (slice.provides !== undefined) capabilities?.provide(slice.provides(part, needs));
  }
  const reversed = open.toReversed();
  const cleanings = new Map<Open, Promise<void>>();
  let ticking: NodeJS.Timeout | undefined;
  let isStopping = false;

  function cleanUp(): void {
    for (const each of open) {
      const { slice, part, needs } = each;
      if (slice.cleanUp !== undefined) cleanings.set(each, slice.cleanUp(part, needs));
    }
  }

  return {
    parts: parts as MadeBy<L> & G,

    async begin() {
      for (const { slice, part, needs } of open) await slice.mend?.(part, needs);
      for (const { slice, part, needs } of open) await slice.begin?.(part, needs);
      for (const { slice, part, needs } of open) await slice.serve?.(part, needs);
      if (isStopping) return;
      cleanUp();
      ticking = setInterval(cleanUp, cleanUpMs);
    },

    async stop(hurry) {
      isStopping = true;
      clearInterval(ticking);
      for (const { slice, part, needs } of reversed) slice.stop?.(part, needs);
      for (const each of reversed) {
        const { slice, part, needs } = each;
        await slice.settle?.(part, needs, hurry);
        await cleanings.get(each);
      }
      for (const { slice, part, needs } of reversed) await slice.close?.(part, needs);
    },
  };
}

/** Of all slices in the list. */
export function routesOf(list: List): readonly RouteGroup[] {
  return list.flatMap(({ routes = [] }) => routes as readonly RouteGroup[]);
}

interface Open {
  readonly slice: AnySlice;
  readonly part: never;
  readonly needs: never;
}

function mustBeInOrder(list: List, given: readonly string[]): void {
  const known = new Set([...given, "projections", "routes"]);
  for (const slice of list) {
    const { name, needs } = slice as { readonly name: string; readonly needs: readonly string[] };
    const wanted = slice.provides === undefined ? needs : [...needs, "capabilities"];
    const missing = wanted.filter((each) => !known.has(each));
    if (missing.length > 0)
      throw new Error(`The slice ${name} needs ${missing.join(", ")}, which no slice before it makes.`);
    if (known.has(name)) throw new Error(`Two slices are called ${name}.`);
    known.add(name);
  }
}
