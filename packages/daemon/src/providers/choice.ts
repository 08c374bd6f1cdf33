import { CorralError, type ModelFacts } from "@corral/protocol";
import { ProviderFailure } from "./failure.ts";
import type { Access, ModelRequest, Provider, ProviderDriver, ReplyPiece } from "./port.ts";

/** The driver that a provider is opened by, and with what. */
export interface Reach {
  readonly driver: string;
  readonly access: Access;
  /** What is known of the model: what it costs and what it can do. */
  readonly facts?: ModelFacts;
}

/** How the provider of the model of this name is reached. Rejects with what a person can act on. */
export type FindReach = (model: string) => Promise<Reach>;

export interface Found {
  readonly provider: Provider;
  /** The model's name without its provider's. */
  readonly model: string;
  readonly facts?: ModelFacts;
}

/**
 * Finds providers by the names of their models.
 *
 * 1. How a provider is reached is asked when it is first needed, and anew after `forget` or a refusal: a key may have
 *    been changed meanwhile.
 * 2. Requests at once share one opening; one that failed is tried again by the next.
 */
export interface Providers {
  /**
   * The provider of a model named `provider/model`. Rejects with `model.unknown` for a provider that Corral does not have,
   * and with `provider.refused` and what to set for one without its key.
   */
  find(model: string): Promise<Found>;
  /** What is known of how providers are reached is old. */
  forget(): void;
}

export function openProviders(drivers: readonly ProviderDriver[], reach: FindReach): Providers {
  let opened = new Map<string, Promise<Omit<Found, "model">>>();
  return {
    async find(named) {
      const { model } = parseModel(named);
      const known = opened;
      const opening = known.get(named) ?? open(named);
      known.set(named, opening);
      const drop = () => void (known.get(named) === opening && known.delete(named));
      const found = await opening.catch(rethrowAfter(drop));
      return { ...found, provider: droppedWhenRefused(found.provider, drop), model };
    },
    forget() {
      opened = new Map();
    },
  };

  async function open(named: string): Promise<Omit<Found, "model">> {
    const { driver: kind, access, facts } = await reach(named);
    const driver = drivers.find((each) => each.name === kind);
    if (driver === undefined) throw unknownProvider(kind);
    return { provider: await driver.open(access), ...(facts === undefined ? {} : { facts }) };
  }
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

export function unknownProvider(name: string, known: readonly string[] = []): CorralError {
  const names = known.length === 0 ? "" : `Known are: ${known.join(", ")}. `;
  return new CorralError("model.unknown", `There is no provider called "${name}".`, {
    hint: `${names}Servers that are like OpenAI's are named in the setting providers.compatible.`,
  });
}

function droppedWhenRefused(provider: Provider, drop: () => void): Provider {
  async function* ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPiece> {
    try {
      yield* provider.ask(request, signal);
    } catch (error) {
      if (error instanceof ProviderFailure && error.code === "provider.refused") drop();
      throw error;
    }
  }
  return { name: provider.name, ask };
}

function rethrowAfter(act: () => void): (error: unknown) => never {
  return (error) => {
    act();
    throw error;
  };
}
