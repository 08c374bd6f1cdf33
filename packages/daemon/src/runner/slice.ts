import { defectsOf, defineSlice } from "../assembly/index.ts";
import type { Machine } from "../assembly/port.ts";
import { mustHaveDescriptors } from "../descriptors/index.ts";
import { limitsFrom } from "../environments/index.ts";
import type { FindReach } from "../providers/index.ts";
import type { Secrets } from "../secrets/index.ts";
import { cutPartsFolder, removeCutParts } from "./cut-parts.ts";
import { type Foreman, openForeman } from "./foreman.ts";
import { endEnvironmentsAtRest } from "./leftovers.ts";
import { type LiveEnvironments, openLiveEnvironments } from "./live-environments.ts";
import { placeLimitsFrom } from "./places/index.ts";
import type { RunnerHost } from "./port.ts";
import { openRemoval, type Removal } from "./removal.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    /** Given by the program. */
    readonly openHost: (settings: HostSettings) => Promise<RunnerHost>;
    readonly host: RunnerHost;
    readonly environments: LiveEnvironments;
    readonly foreman: Foreman;
    readonly removal: Removal;
  }
}

interface HostSettings {
  readonly size: number;
  readonly level: string;
  readonly rehearsals: string;
  /** How the provider of a model is reached. */
  readonly reach: FindReach;
  /** What is masked in all that runners record and say. */
  readonly secrets: Secrets;
  /** The provider that is asked the most, for which runners may make ready. */
  readonly usualProvider: string;
  /** Variables of the daemon's environment that are not for runners. */
  readonly hidden: readonly string[];
  /** To be called when a runner process has ended. */
  readonly onEnded: () => void;
}

export const host = defineSlice({
  name: "host",
  needs: ["openHost", "config", "secrets", "credentials", "models", "git"],
  async open({ openHost, config, secrets, credentials, models, git }) {
    const own = await openHost({
      size: config.values.runners,
      level: config.values["logs.level"],
      rehearsals: config.values["rehearsal.scripts"],
      secrets,
      reach: async (model) => ({ ...(await credentials.reach(model)), facts: models.facts(model) }),
      usualProvider: config.values.model.split("/")[0] ?? "",
      hidden: credentials.variables(),
      onEnded: () => void git.endLeftJails(),
    });
    own.setLevel(config.values["logs.level"]);
    credentials.onChange(() => own.forgetReaches());
    config.onChange((values) => {
      own.forgetReaches();
      own.setLevel(values["logs.level"]);
    });
    return own;
  },
});

export const environments = defineSlice({
  name: "environments",
  needs: ["machine", "log", "drivers", "terminals"],
  open: ({ machine, ...parts }) => openLiveEnvironments({ ...parts, onFailure: staysOf(machine) }),
  cleanUp: (own) => own.sweep(),
  settle: (own, _, hurry) => own.close(hurry),
});

export const foreman = defineSlice({
  name: "foreman",
  needs: ["machine", "home", "log", "config", "drivers", "host", "secrets", "sessions", "terminals", "capabilities"],
  open({ machine, home, log, config, drivers, sessions, terminals, ...parts }) {
    const own = openForeman({
      ...parts,
      log,
      sessions,
      cutParts: cutPartsFolder(home.folder),
      limits: () => limitsFrom(config.values),
      placeLimits: () => placeLimitsFrom(config.values),
      closeEnvironment: (session) => endEnvironmentsAtRest(session, log, drivers),
      mustHaveDescriptors,
      onDefect: defectsOf(machine, "foreman"),
    });
    config.onChange(() => own.look());
    sessions.standingsFrom(own);
    terminals.openVia(own);
    return own;
  },
  begin: (own) => own.begin(),
  settle: (own, { config }, hurry) => own.stop(config.values.drainSeconds * 1000, hurry),
});

export const removal = defineSlice({
  name: "removal",
  needs: ["machine", "home", "log", "drivers", "terminals", "heldBack", "artifacts", "workspaces", "snapshots"],
  open({ machine, home, log, drivers, terminals, heldBack, artifacts, workspaces, snapshots }) {
    return openRemoval({
      log,
      drivers,
      closeTerminals: (session) => terminals.closeAll(session),
      async removeFiles(session) {
        removeCutParts(cutPartsFolder(home.folder), session);
        heldBack.remove(session);
        await artifacts.removeOf(session);
        await workspaces.remove(session);
        await snapshots.remove(session);
      },
      onFailure: staysOf(machine),
    });
  },
  serve: (own) => void own.sweep(),
  settle: (own) => own.close(),
});

function staysOf(machine: Machine): (name: string, error: unknown) => void {
  const onDefect = defectsOf(machine, "environments");
  return (name, error) => onDefect(`what is left of ${name} stays`, error);
}
