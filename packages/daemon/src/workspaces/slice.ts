import type { CreateSession, EnvironmentAsked, EnvironmentWish, SettingValues } from "@corral/protocol";
import { defectsOf, defineSlice } from "../assembly/index.ts";
import { openTrials, wishOf } from "../environments/index.ts";
import { workspaceProjections } from "./projection.ts";
import { openRoom } from "./room.ts";
import { workspaceRoutes } from "./routes.ts";
import { isShell, openSnapshots, snapshotProjections, snapshotRoutes, type Snapshots } from "./snapshots/index.ts";
import { openSpares, type Spares, sparesFolder } from "./spare.ts";
import { usualContainerFrom } from "./usual-container.ts";
import { openWorkspaces, type Workspaces } from "./workspaces.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly sites: Sites;
    readonly spares: Spares;
    readonly snapshots: Snapshots;
    readonly workspaces: Workspaces;
  }
}

interface Sites {
  /** What a session that asks for this gets. Throws with the fix when it cannot be had on this machine. */
  wishFor(asked: EnvironmentAsked, workspace: CreateSession["workspace"]): Promise<EnvironmentWish>;
}

export const sites = defineSlice({
  name: "sites",
  needs: ["home", "config", "drivers"],
  open({ home, config, drivers }) {
    const trials = openTrials({ drivers });
    const room = openRoom({ home: home.folder, most: () => bytesOf(config.values["workspace.totalMb"]) });
    return {
      async wishFor(asked, workspace) {
        const wish = wishOf(asked, usualContainerFrom(config.values));
        // No session is made on a machine that cannot wall it in as it is to be.
        await trials.mustOpen(wish);
        if (workspace === "copy") await room.mustBeLeft();
        return wish;
      },
    };
  },
});

export const spares = defineSlice({
  name: "spares",
  needs: ["machine", "home", "config", "drivers"],
  open: ({ machine, home, config, drivers }) =>
    openSpares({
      folder: sparesFolder(home.folder),
      newOwner: drivers.of("jail").newOwner,
      wanted: () => config.values["workspace.spare"],
      onDefect: defectsOf(machine, "workspaces"),
    }),
  settle: (own) => own.close(),
});

export const snapshots = defineSlice({
  name: "snapshots",
  needs: ["machine", "home", "log", "config", "openStore", "environments", "shells", "sessions"],
  projections: snapshotProjections,
  routes: [snapshotRoutes],
  async open({ machine, home, log, config, openStore, environments, shells, sessions }) {
    const own = openSnapshots({
      log,
      home: home.folder,
      store: await openStore("snapshots"),
      terms: async (project) => snapshotTerms(await config.valuesFor(project)),
      async atRest(occupant, work) {
        const reason = "its files were restored";
        if (isShell(occupant)) return shells.atRest(occupant, reason, work);
        await environments.endAllOf(occupant, reason);
        return work();
      },
      onDefect: defectsOf(machine, "snapshots"),
    });
    shells.snapshotVia(own);
    sessions.forkVia(own);
    return own;
  },
  provides: (own) => own.provides,
  settle: (own) => own.close(),
});

export const workspaces = defineSlice({
  name: "workspaces",
  needs: ["machine", "home", "log", "config", "environments", "spares", "snapshots"],
  projections: workspaceProjections,
  routes: [workspaceRoutes],
  open({ machine, home, log, config, environments, spares: copies, snapshots: kept }) {
    const own = openWorkspaces({
      log,
      home: home.folder,
      spares: copies,
      endEnvironments: (session) => environments.endAllOf(session, "its workspace went"),
      beforeRemoval: (session) => kept.beforeRemoval(session),
      terms: () => ({
        idleDays: config.values["workspace.idleDays"],
        discardedDays: config.values["workspace.discardedDays"],
      }),
      onDefect: defectsOf(machine, "workspaces"),
    });
    kept.takeTurnsVia(own);
    return own;
  },
  async mend(own, { snapshots: kept }) {
    await own.mend();
    // Of workspaces that are whole again, and before shells and sessions tell of anything new.
    await kept.begin();
  },
  serve: (own) => own.begin(),
  async cleanUp(own, { snapshots: kept }) {
    await own.cleanUp();
    await kept.expire();
  },
  settle: (own) => own.close(),
});

function snapshotTerms(values: SettingValues) {
  return {
    days: values["snapshots.days"],
    most: values["snapshots.most"],
    ignored: values["snapshots.ignored"],
    largestFile: values["snapshots.largestMb"] * 2 ** 20,
  };
}

function bytesOf(mebibytes: number | null): number | null {
  return mebibytes === null ? null : mebibytes * 2 ** 20;
}
