import { type ConfigLayer, type ConfigProblem, configVersion, settings, type SettingKey } from "@corral/protocol";
import { getNodeValue, type Node } from "jsonc-parser";
import { Broken, parseJsonFile, placeAt, withoutMark } from "./json-file.ts";
import { lift, type Placed } from "./lift.ts";

/** What a file of settings says: today's keys, whatever version it is written in. */
export interface Document {
  readonly version: number;
  readonly said: ReadonlyMap<SettingKey, Placed>;
}

export type Reading =
  | { readonly kind: "good"; readonly document: Document }
  | { readonly kind: "broken"; readonly problem: ConfigProblem };

/** JSON with comments and trailing commas. An empty file says nothing, and that is good. */
export function readDocument(text: string, layer: ConfigLayer): Reading {
  try {
    return { kind: "good", document: parse(withoutMark(text), layer) };
  } catch (error) {
    if (error instanceof Broken) return { kind: "broken", problem: error.problem };
    throw error;
  }
}

function parse(text: string, layer: ConfigLayer): Document {
  const root = parseJsonFile(text);
  if (root === undefined) return { version: configVersion, said: new Map() };
  if (root.type !== "object") throw new Broken(placeAt(text, root.offset), "expected an object: { … }");
  const leaves = leavesOf(root, [], text);
  const version = versionOf(leaves);
  const said = new Map<SettingKey, Placed>();
  for (const leaf of lift(leaves.filter(isSetting), version)) {
    const key = checked(leaf, layer);
    if (said.has(key)) throw new Broken(leaf, `${key} is set twice`);
    said.set(key, leaf);
  }
  return { version, said };
}

/** Objects are groups of settings, unless a setting is one by itself; whatever else is a value. */
function leavesOf(node: Node, path: readonly string[], text: string): Placed[] {
  return (node.children ?? []).flatMap((property) => {
    const [name, value] = property.children ?? [];
    if (name === undefined || value === undefined) return [];
    const inner = [...path, String(name.value)];
    if (value.type === "object" && !isKey(inner.join("."))) return leavesOf(value, inner, text);
    return [{ path: inner, source: inner, value: getNodeValue(value) as unknown, ...placeAt(text, name.offset) }];
  });
}

function versionOf(leaves: readonly Placed[]): number {
  const leaf = leaves.find(({ path }) => path.length === 1 && path[0] === "version");
  if (leaf === undefined) return 0;
  const { value } = leaf;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
    throw new Broken(leaf, `version must be a whole number from 1 to ${configVersion}`);
  if (value > configVersion)
    throw new Broken(leaf, `version ${value} is newer than this Corral knows (${configVersion})`);
  return value;
}

/** The others say something about the file. */
function isSetting({ path }: Placed): boolean {
  return path.length !== 1 || (path[0] !== "version" && path[0] !== "$schema");
}

function checked(leaf: Placed, layer: ConfigLayer): SettingKey {
  const key = leaf.path.join(".");
  if (!isKey(key)) throw new Broken(leaf, unknownKey(key));
  if (leaf.path.some((name) => name.includes(".")))
    throw new Broken(leaf, `${key} is written as one word; write ${nested(key)}`);
  if (layer !== "user" && settings[key].scope === "machine")
    throw new Broken(leaf, `${key} is the machine's: only the user's own file may set it`);
  const { success, error } = settings[key].schema.safeParse(leaf.value);
  if (!success) throw new Broken(leaf, `${key}: ${error.issues[0]?.message ?? "invalid"}`);
  return key;
}

function isKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

function unknownKey(key: string): string {
  const group = Object.keys(settings).find((known) => known.startsWith(`${key}.`));
  return group === undefined ? `there is no setting ${key}` : `${key} is a group of settings: write ${nested(group)}`;
}

function nested(key: string): string {
  return key.split(".").reduceRight((inner, name) => `{ "${name}": ${inner} }`, "…");
}
