import type { ModelFacts, ModelPrices } from "@corral/protocol";
import table from "./table.json" with { type: "json" };

/** How names of a model are told from others: `claude-sonnet-4-5-20250929` is `claude-sonnet-4-5`. */
type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string };

interface Entry {
  readonly id: string;
  readonly match: Match;
  readonly context?: number;
  readonly prices: ModelPrices;
}

const providers = table as unknown as Readonly<Record<string, readonly Entry[]>>;

/** What is built in of a model, by its provider and its own name; nothing of one that is not. */
export function builtInFacts(provider: string, model: string): ModelFacts | undefined {
  const entry = entriesOf(provider).find(({ match }) => matches(match, model));
  return entry === undefined ? undefined : factsOf(provider, entry);
}

/** Models that are built in, by the names that they are asked by. */
export function builtInModels(provider: string): readonly { readonly model: string; readonly facts: ModelFacts }[] {
  return entriesOf(provider).map((entry) => ({ model: entry.id, facts: factsOf(provider, entry) }));
}

function entriesOf(provider: string): readonly Entry[] {
  return Object.hasOwn(providers, provider) ? (providers[provider] ?? []) : [];
}

function factsOf(provider: string, { id, context = contextOf(provider, id), prices }: Entry): ModelFacts {
  return { ...(context === undefined ? {} : { context }), prices, ...capabilitiesOf(provider, id) };
}

/** Where the table of prices has none. */
function contextOf(provider: string, id: string): number | undefined {
  return provider === "google" && /^gemini-(2\.5|[3-9])/.test(id) ? 1_048_576 : undefined;
}

function capabilitiesOf(provider: string, id: string): Pick<ModelFacts, "images" | "reasoning" | "tools"> {
  const know = capabilities[provider];
  if (know === undefined) return {};
  return { images: know.images.test(id), reasoning: know.reasoning.test(id), tools: !know.noTools.test(id) };
}

const never = /^$/;
const capabilities: Readonly<Record<string, Record<"images" | "reasoning" | "noTools", RegExp>>> = {
  anthropic: {
    images: /^claude-(?!v1|2|3-5-haiku)/,
    reasoning: /^claude-(3-7|(opus|sonnet|haiku|fable)-(4|5))/,
    noTools: /^claude-(v1|2)/,
  },
  openai: {
    images: /^(gpt-4o|gpt-4\.|gpt-4-turbo|gpt-4-vision|gpt-[5-9]|chatgpt-4o|o1$|o1-pro|o3(?!-mini)|o4|computer-use)/,
    reasoning: /^(o\d|gpt-[5-9]|gpt-oss|codex)/,
    noTools: /^(gpt-3\.5-0301|o1-preview|o1-mini|gpt-4-vision)/,
  },
  google: { images: /^(gemini|claude|gemma-[34])/, reasoning: /^gemini-(2\.5|[3-9])/, noTools: /^gemma-2/ },
  deepseek: { images: never, reasoning: /reasoner|r1/, noTools: never },
};

function matches(match: Match, name: string): boolean {
  if ("or" in match) return match.or.some((each) => matches(each, name));
  if ("and" in match) return match.and.every((each) => matches(each, name));
  if ("equals" in match) return name === match.equals;
  if ("starts_with" in match) return name.startsWith(match.starts_with);
  if ("ends_with" in match) return name.endsWith(match.ends_with);
  if ("contains" in match) return name.includes(match.contains);
  return new RegExp(match.regex).test(name);
}
