import type { SnapshotView } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import {
  type FindsShells,
  type Handlers,
  isBounded,
  knownShell,
  missing,
  type Principal,
  principalOf,
  seenShell,
  type Sight,
} from "../../routing/index.ts";
import type { Snapshots } from "./snapshots.ts";

interface Needs {
  readonly snapshots: Snapshots;
  readonly shells: FindsShells;
  readonly sight: Sight;
}

export function snapshotRoutes(needs: Needs): Handlers<RoutesOf<"snapshots">> {
  const { snapshots, sight } = needs;
  return {
    "sessions.snapshots": async (request) => ({ snapshots: [...(await snapshots.list(request.params.id))] }),
    "sessions.takeSnapshot": (request) => snapshots.take(request.params.id, request.by),

    async "shells.snapshots"(request) {
      await knownShell(needs, principalOf(request), request.params.id);
      return { snapshots: [...(await snapshots.list(request.params.id))] };
    },

    async "shells.takeSnapshot"(request) {
      await knownShell(needs, principalOf(request), request.params.id);
      return snapshots.take(request.params.id, request.by);
    },

    "snapshots.get": (request) => known(request.params.id, principalOf(request)),

    async "snapshots.diff"(request) {
      const { id } = await known(request.params.id, principalOf(request));
      return snapshots.diff(id, request.query.to);
    },

    async "snapshots.restore"(request) {
      const { id } = await known(request.params.id, principalOf(request));
      return snapshots.restore(id, request.body, request.by);
    },
  };

  /** The same words for one that is not there and for one out of bounds. */
  async function known(id: SnapshotView["id"], who: Principal): Promise<SnapshotView> {
    const found = await snapshots.get(id);
    if (isBounded(who) && !(await seesFilesOf(who, found))) throw missing("snapshot", id);
    return found;
  }

  async function seesFilesOf(who: Principal, { session, shell }: SnapshotView): Promise<boolean> {
    if (shell !== undefined) return (await seenShell(needs, who, shell)) !== undefined;
    return session !== undefined && sight.session(who, session);
  }
}
