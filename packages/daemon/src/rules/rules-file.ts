import { type ConfigProblem, type Rule, ruleMatch, type Verdict, verdict } from "@corral/protocol";
import { getNodeValue, type Node } from "jsonc-parser";
import { Broken, parseJsonFile, placeAt, withoutMark } from "../config/index.ts";

export type RulesLayer = "user" | "project";

export interface RulesRead {
  readonly rules: readonly Rule[];
  /** What the user's file says for one agent, by its name. */
  readonly agents: ReadonlyMap<string, readonly Rule[]>;
}

export type RulesReading =
  | { readonly kind: "good"; readonly read: RulesRead }
  | { readonly kind: "broken"; readonly problem: ConfigProblem };

/**
 * Reads a file of rules: JSON with comments and trailing commas, `{ "rules": [{ "deny": { "command": "rm *" }, "because": "…" }] }`,
 * the user's with `"agents": { "NAME": […] }` besides. Whatever is not understood breaks the whole file: a rule that is left out
 * could have been one that denies.
 */
export function readRules(text: string, file: string, layer: RulesLayer): RulesReading {
  try {
    return { kind: "good", read: parse(withoutMark(text), file, layer) };
  } catch (error) {
    if (error instanceof Broken) return { kind: "broken", problem: error.problem };
    throw error;
  }
}

function parse(text: string, file: string, layer: RulesLayer): RulesRead {
  const root = parseJsonFile(text);
  const agents = new Map<string, readonly Rule[]>();
  let rules: readonly Rule[] = [];
  for (const [name, value, key] of root === undefined ? [] : membersOf(root, text)) {
    if (name === "$schema" || (name === "version" && value.value === 1)) continue;
    if (name === "rules") rules = listOf(value, text, { file, layer });
    else if (name === "agents" && layer === "user")
      for (const [agent, list] of membersOf(value, text))
        agents.set(agent, listOf(list, text, { file, layer: "agent" }));
    else throw broken(text, key.offset, `${name} means nothing here`);
  }
  return { rules, agents };
}

interface From {
  readonly file: string;
  readonly layer: "user" | "agent" | "project";
}

function listOf(node: Node, text: string, from: From): readonly Rule[] {
  if (node.type !== "array") throw broken(text, node.offset, "expected a list: [ … ]");
  return (node.children ?? []).map((each) => ruleOf(each, text, from));
}

function ruleOf(node: Node, text: string, { file, layer }: From): Rule {
  let said: { verdict: Verdict; match: Node } | undefined;
  let because: string | undefined;
  for (const [name, value, key] of membersOf(node, text)) {
    const found = verdict.safeParse(name);
    if (name === "because" && typeof value.value === "string" && value.value.length <= 1000) because = value.value;
    else if (!found.success || said !== undefined)
      throw broken(text, key.offset, `expected one of allow, ask, deny, and because; not ${name}`);
    else if (found.data === "allow" && layer === "project")
      throw broken(text, key.offset, "a repository's own rules may only ask or deny");
    else said = { verdict: found.data, match: value };
  }
  if (said === undefined) throw broken(text, node.offset, "a rule says allow, ask or deny");
  const origin = { kind: "file", layer, file, ...placeAt(text, node.offset) } as const;
  return {
    verdict: said.verdict,
    match: matchOf(said.match, text),
    ...(because === undefined ? {} : { because }),
    origin,
  };
}

function matchOf(node: Node, text: string): Rule["match"] {
  membersOf(node, text);
  const { success, data, error } = ruleMatch.safeParse(getNodeValue(node));
  if (!success) throw broken(text, node.offset, error.issues[0]?.message ?? "invalid");
  if ([data.command, data.path, data.host].filter((each) => each !== undefined).length > 1)
    throw broken(text, node.offset, "a rule is about one of command, path and host");
  if (data.access !== undefined && data.path === undefined) throw broken(text, node.offset, "access goes with a path");
  return data;
}

/** An object's members, each once. */
function membersOf(node: Node, text: string): readonly (readonly [string, Node, Node])[] {
  if (node.type !== "object") throw broken(text, node.offset, "expected an object: { … }");
  const seen = new Set<string>();
  return (node.children ?? []).map(({ children: [key, value] = [], offset }) => {
    if (key === undefined || value === undefined) throw broken(text, offset, "value expected");
    const name = String(key.value);
    if (seen.has(name)) throw broken(text, key.offset, `${name} is there twice`);
    seen.add(name);
    return [name, value, key] as const;
  });
}

function broken(text: string, offset: number, message: string): Broken {
  return new Broken(placeAt(text, offset), message);
}
