import { usualKind } from "@corral/protocol";
import type { AgentKind } from "./port.ts";

/** The kinds of agents that this process can run, by the names that sessions have on record. */
export interface AgentKinds {
  readonly names: readonly string[];
  /** Of a session that was recorded without one, the loop. Undefined: there is no kind of this name here. */
  find(name?: string): AgentKind | undefined;
}

export function openKinds(kinds: Readonly<Record<string, AgentKind>>): AgentKinds {
  return {
    get names() {
      return Object.keys(kinds);
    },
    find: (name = usualKind) => (Object.hasOwn(kinds, name) ? kinds[name] : undefined),
  };
}
