import { isDeepStrictEqual } from "node:util";
import { CorralError, event, type ModelFacts, type ModelList, type ModelSource, type NewEvent } from "@corral/protocol";
import type { Log } from "../log/index.ts";
import { registeredIn } from "./projection.ts";
import { builtInFacts, builtInModels } from "./table.ts";

/**
 * What is known of models: a table that is built in, what the settings say, and what providers list.
 *
 * 1. What is not built in, or is other than built in, is registered by events; a look records what has changed and
 *    nothing else. Looks follow each other.
 * 2. A provider that cannot be asked now keeps the models that it listed before.
 */
export interface Models {
  /** Of a model named `provider/model`; of one that nobody knows, nothing. */
  facts(named: string): ModelFacts;
  /** Throws for a model of which it is not known that it thinks. */
  mustThink(named: string): void;
  list(): Promise<ModelList>;
  /** Asks settings and providers, and records what has changed. */
  look(): Promise<void>;
}

export interface ModelParts {
  readonly log: Pick<Log, "append" | "rows" | "head" | "onCommit">;
  /** What the settings say of models, by their names. */
  readonly own: () => Readonly<Record<string, ModelFacts>>;
  /** Providers that can be asked. */
  readonly reachable: () => Promise<ReadonlySet<string>>;
  /** Models of providers that list theirs; one that cannot be asked now is left out. */
  readonly listed: () => Promise<ReadonlyMap<string, readonly { readonly id: string; readonly facts: ModelFacts }[]>>;
}

interface Registered {
  readonly facts: ModelFacts;
  readonly source: ModelSource;
}

const stream = "models";

export async function openModels({ log, own, reachable, listed }: ModelParts): Promise<Models> {
  const registered = new Map<string, Registered>();
  for (const row of await log.rows("models")) {
    const { name, ...known } = registeredIn(row);
    registered.set(name, known);
  }
  let looking: Promise<unknown> = Promise.resolve();
  const facts = (named: string): ModelFacts => ({ ...ofTable(named), ...registered.get(named)?.facts });
  return {
    facts,
    mustThink(named) {
      if (facts(named).reasoning === true) return;
      throw new CorralError("config.invalid", `${named} is not known to support reasoning effort.`, {
        hint: 'Leave out --effort, or say "reasoning": true of it in the setting models',
      });
    },
    async list() {
      const seq = await log.head();
      const asked = await reachable();
      const built = [...asked, ...builtInProviders].filter((name, at, all) => all.indexOf(name) === at);
      const known = new Map<string, ModelList["models"][number]>();
      const add = (name: string, facts: ModelFacts, source: ModelSource | "built-in") =>
        known.set(name, { name, facts, source, isReachable: asked.has(providerOf(name)) });
      for (const provider of built)
        for (const { model, facts } of builtInModels(provider)) add(`${provider}/${model}`, facts, "built-in");
      for (const [name, { facts, source }] of registered) add(name, { ...ofTable(name), ...facts }, source);
      return { models: [...known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), seq };
    },
    look() {
      const look = looking.then(register);
      looking = look.catch(() => undefined);
      return look;
    },
  };

  async function register(): Promise<void> {
    const wanted = new Map<string, Registered>();
    const lists = await listed();
    for (const [name, known] of registered)
      if (known.source === "provider" && !lists.has(providerOf(name))) wanted.set(name, known);
    for (const [provider, models] of lists)
      for (const { id, facts } of models) {
        const name = `${provider}/${id}`;
        if (!isName(name) || ofTable(name) !== undefined) continue;
        wanted.set(name, { facts, source: "provider" });
      }
    for (const [name, facts] of Object.entries(own()))
      wanted.set(name, { facts: { ...wanted.get(name)?.facts, ...facts }, source: "settings" });
    const events = differences(registered, wanted);
    if (events.length > 0) await log.append({ actor: "corral", stream, events });
    registered.clear();
    for (const [name, known] of wanted) registered.set(name, known);
  }
}

const builtInProviders = ["anthropic", "openai", "google"];

function differences(before: ReadonlyMap<string, Registered>, after: ReadonlyMap<string, Registered>): NewEvent[] {
  const gone = [...before.keys()].filter((name) => !after.has(name));
  return [
    ...[...after].flatMap(([name, known]) => {
      const was = before.get(name);
      if (was === undefined) return [event("model.added", { name, ...known })];
      return isDeepStrictEqual(was, known) ? [] : [event("model.changed", { name, ...known })];
    }),
    ...gone.map((name) => event("model.removed", { name })),
  ];
}

function ofTable(named: string): ModelFacts | undefined {
  return builtInFacts(providerOf(named), named.slice(named.indexOf("/") + 1));
}

function providerOf(named: string): string {
  return named.slice(0, named.indexOf("/"));
}

/** What a provider lists may be called as it likes; such a one cannot be asked by its name. */
function isName(name: string): boolean {
  return /^[^/\s]+\/\S{1,200}$/.test(name);
}
