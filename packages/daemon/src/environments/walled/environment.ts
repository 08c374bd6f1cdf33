import type { EnvironmentState } from "@corral/protocol";
import { keptEnvironment } from "../kept.ts";
import type { Gauge } from "../limits/index.ts";
import type { Environment } from "../port.ts";
import { signal } from "../process-identity.ts";
import type { WalledFolder } from "./folder.ts";

/** An environment whose first process stands behind walls, as long as this process holds it. */
export function walledEnvironment(folder: WalledFolder, state: EnvironmentState, held: Held): Environment {
  const { supervisor } = state;
  const { gauge, unwatch, outputBytes, remove } = held;
  const kept = keptEnvironment({
    words: state.words,
    spool: folder.spool,
    outputBytes,
    gauge,
    keeper: {
      signal: (name) => void signal(supervisor, name),
      kill: () => void signal(supervisor, "SIGKILL"),
    },
  });
  const letGo = () => {
    unwatch();
    gauge.close();
  };
  return {
    ...kept,
    state,
    get isOpen() {
      return kept.isOpen;
    },
    detach: () => {
      letGo();
      kept.detach();
    },
    kill: () => folder.endProcesses(),
    end: async () => {
      letGo();
      await folder.endProcesses().finally(() => kept.detach());
      await remove();
    },
  };
}

export interface Held {
  readonly gauge: Gauge;
  readonly unwatch: () => void;
  readonly outputBytes: number;
  /** What is left of it when its processes have ended. */
  readonly remove: () => Promise<void>;
}
