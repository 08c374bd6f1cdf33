import { CorralError } from "@corral/protocol";
import { refused } from "./failure.ts";
import type { Provider, ProviderDriver, Variables } from "./port.ts";

/** The providers that the environment has keys for. */
export interface Providers {
  readonly configured: ReadonlyMap<string, Provider>;
  /**
   * The provider of a model named `provider/model`. Throws `model.unknown` for a provider that Corral
   * does not have, and `provider.refused` with what to set for one without its key.
   */
  find(model: string): { readonly provider: Provider; readonly model: string };
}

export function openProviders(variables: Variables, drivers: readonly ProviderDriver[]): Providers {
  const configured = new Map(
    drivers
      .filter(({ keyVariable }) => keyVariable === undefined || (variables[keyVariable]?.trim() ?? "") !== "")
      .map((driver) => [driver.name, driver.open(variables)]),
  );
  return {
    configured,
    find(named) {
      const { provider: name, model } = parseModel(named);
      const provider = configured.get(name);
      if (provider === undefined) throw missing(name, drivers);
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

function missing(name: string, drivers: readonly ProviderDriver[]): CorralError {
  const driver = drivers.find((each) => each.name === name);
  if (driver?.keyVariable !== undefined)
    return refused(`There is no key for the provider ${name}.`, `Set ${driver.keyVariable} where the daemon starts.`);
  return new CorralError("model.unknown", `There is no provider called "${name}".`, {
    hint: `Known are: ${drivers.map((each) => each.name).join(", ")}.`,
  });
}
