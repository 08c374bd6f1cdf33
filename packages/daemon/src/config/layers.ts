import {
  type ConfigFile,
  type ConfigLayer,
  type ConfigOrigin,
  type ConfigProblem,
  type SettingKey,
  settingKeys,
  settings,
  type SettingValues,
} from "@corral/protocol";
import { readDocument } from "./document.ts";
import type { Placed } from "./lift.ts";

/** A file of settings as it was found. */
export interface FoundFile {
  readonly layer: ConfigLayer;
  readonly file: string;
  readonly found:
    | { readonly kind: "absent" }
    | { readonly kind: "untrusted" }
    | { readonly kind: "unreadable"; readonly reason: string }
    | { readonly kind: "text"; readonly text: string };
}

/** What a file of settings contributes, and what is to be said about it. */
export interface Layer {
  readonly layer: ConfigLayer;
  readonly file: string;
  readonly state: ConfigFile["state"];
  readonly said: ReadonlyMap<SettingKey, Placed>;
  readonly version?: number;
  readonly problem?: ConfigProblem;
}

/** What is found, in the light of what was there before: a broken file leaves the last good one in force. */
export function judge({ layer, file, found }: FoundFile, before: Layer | undefined): Layer {
  switch (found.kind) {
    case "absent":
    case "untrusted":
      return { layer, file, state: found.kind, said: new Map() };
    case "unreadable":
      return rejected({ line: 1, column: 1, message: `it cannot be read: ${found.reason}` });
    case "text": {
      const reading = readDocument(found.text, layer);
      if (reading.kind === "broken") return rejected(reading.problem);
      return { layer, file, state: "applied", ...reading.document };
    }
  }

  function rejected(problem: ConfigProblem): Layer {
    return { layer, file, state: "rejected", problem, said: before?.file === file ? before.said : new Map() };
  }
}

/** The keys about which the two say something different. */
export function changedKeys(before: Layer | undefined, after: Layer): readonly SettingKey[] {
  return settingKeys.filter((key) => !same(before?.said.get(key)?.value, after.said.get(key)?.value));
}

export interface Resolved {
  readonly value: unknown;
  readonly origin: ConfigOrigin;
}

/** Stronger than every file. */
export type Overrides = ReadonlyMap<SettingKey, Resolved>;

/** Each setting's value and where it is from; the last layer that speaks wins, or adds to the others. */
export function resolve(layers: readonly Layer[], overrides: Overrides): ReadonlyMap<SettingKey, Resolved> {
  const resolved = new Map<SettingKey, Resolved>();
  for (const key of settingKeys) {
    const spoken = layers.findLast(({ said }) => said.has(key));
    const last = spoken === undefined ? undefined : resolvedFrom(spoken, key);
    const fromFile =
      last !== undefined && settings[key].addsUp === true ? { ...last, value: sumOf(layers, key) } : last;
    resolved.set(key, overrides.get(key) ?? fromFile ?? { value: settings[key].default, origin: { kind: "default" } });
  }
  return resolved;
}

/** What the layers list, each once. */
function sumOf(layers: readonly Layer[], key: SettingKey): readonly unknown[] {
  return [...new Set(layers.flatMap(({ said }) => (said.get(key)?.value as readonly unknown[] | undefined) ?? []))];
}

export function valuesOf(resolved: ReadonlyMap<SettingKey, Resolved>): SettingValues {
  return Object.fromEntries(Array.from(resolved, ([key, { value }]) => [key, value])) as SettingValues;
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function resolvedFrom({ layer, file, said, state }: Layer, key: SettingKey): Resolved | undefined {
  const placed = said.get(key);
  if (placed === undefined) return undefined;
  const lastGood = state === "rejected" ? { lastGood: true as const } : {};
  return { value: placed.value, origin: { kind: "file", layer, file, line: placed.line, ...lastGood } };
}
