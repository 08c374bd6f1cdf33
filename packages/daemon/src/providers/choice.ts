import { CorralError } from "@corral/protocol";
import { openAnthropic } from "./anthropic/index.ts";
import { refused } from "./failure.ts";
import type { Provider } from "./port.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The providers that the environment has keys for. */
export interface Providers {
  readonly configured: ReadonlyMap<string, Provider>;
  /**
   * The provider of a model named `provider/model`. Throws `model.unknown` for a provider that Corral
   * does not have, and `provider.refused` with what to set for one without its key.
   */
  find(model: string): { readonly provider: Provider; readonly model: string };
}

/** Every provider, with the variable that configures it. The conventions are the vendors' own. */
const drivers = {
  anthropic: { key: "ANTHROPIC_API_KEY", open: openAnthropicFrom },
} as const;

export function openProviders(variables: Variables): Providers {
  const configured = new Map<string, Provider>();
  for (const [name, { key, open }] of Object.entries(drivers)) {
    const secret = variables[key]?.trim() ?? "";
    if (secret !== "") configured.set(name, open(secret, variables));
  }
  return {
    configured,
    find(named) {
      const { provider: name, model } = parseModel(named);
      const provider = configured.get(name);
      if (provider === undefined) throw missing(name);
      return { provider, model };
    },
  };
}

/** `anthropic/claude-x` is the model `claude-x` of the provider `anthropic`; only the first slash counts. */
export function parseModel(named: string): { readonly provider: string; readonly model: string } {
  const slash = named.indexOf("/");
  if (slash <= 0 || slash === named.length - 1)
    throw new CorralError("model.unknown", `"${named}" is not a model's name.`, {
      hint: "Name it provider/model, for instance anthropic/claude-sonnet-4-5.",
    });
  return { provider: named.slice(0, slash), model: named.slice(slash + 1) };
}

function openAnthropicFrom(apiKey: string, variables: Variables): Provider {
  const baseUrl = variables["ANTHROPIC_BASE_URL"]?.trim() ?? "";
  return openAnthropic(baseUrl === "" ? { apiKey } : { apiKey, baseUrl });
}

function missing(name: string): CorralError {
  if (Object.hasOwn(drivers, name)) {
    const { key } = drivers[name as keyof typeof drivers];
    return refused(`There is no key for the provider ${name}.`, `Set ${key} where the daemon starts.`);
  }
  return new CorralError("model.unknown", `There is no provider called "${name}".`, {
    hint: `Known are: ${Object.keys(drivers).join(", ")}.`,
  });
}
