import { engineFix, engineSockets } from "../drivers/engines.ts";
import { Engine, type EngineFacts } from "./engine.ts";
import { unavailable } from "./start.ts";

export interface FoundEngine {
  readonly engine: Engine;
  readonly facts: EngineFacts;
}

/** Throws when there is none. */
export type FindEngine = () => Promise<FoundEngine>;

/** Finds the one that answered last time, if it still does: what it can do takes an engine longer to say than a container to start. */
export function engineFinder(variables: Readonly<Record<string, string | undefined>>): FindEngine {
  let known: FoundEngine | undefined;
  return async () => {
    if (known !== undefined && (await known.engine.ping().catch(() => undefined)) === known.facts.name) return known;
    for (const socket of engineSockets(variables)) {
      const engine = new Engine(socket);
      const facts = await engine.examine();
      if (facts !== undefined) return (known = { engine, facts });
    }
    throw unavailable("no container engine answers", engineFix);
  };
}
