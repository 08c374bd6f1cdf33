import type { EventData, StoredEvent } from "@corral/protocol";
import type { Change, Projection, Row } from "../log/index.ts";

/** Where each session works, and what became of it. `pending`: an activity has ended, and its work may not be brought back yet. */
const workspaces: Projection = {
  table: "workspaces",
  version: 1,
  columns: {
    project: "text",
    worktree: "text",
    kind: "text",
    prepared: "text",
    tip: "text",
    tip_branch: "text",
    pending: "integer",
    merging: "text",
    discarded: "text",
    rested: "text",
  },
  indexes: [["pending"]],
  changes: (stored) => (stored.stream.startsWith("ses_") ? changesOf(stored) : []),
};

export const workspaceProjections: readonly Projection[] = [workspaces];

function changesOf(stored: StoredEvent): readonly Change[] {
  const set = (row: Row): Change[] => [{ key: stored.stream, set: row }];
  switch (stored.type) {
    case "session.created": {
      const { projectId, worktree = null, workspace } = stored.data;
      return set({ project: projectId, worktree, kind: workspace, pending: 0 });
    }
    case "session.expired":
      return [{ key: stored.stream, delete: true }];
    case "workspace.prepared":
      return set({ prepared: JSON.stringify(stored.data) });
    case "activity.settled":
      return set({ pending: 1, rested: stored.approximateCreationTime });
    case "workspace.unchanged":
    case "workspace.bring-back-failed":
      return set({ pending: 0 });
    case "workspace.brought-back":
      return set({ pending: 0, tip: stored.data.commit, tip_branch: stored.data.branch });
    case "workspace.merge-begun":
      return set({ merging: JSON.stringify(stored.data) });
    case "workspace.merged":
    case "workspace.merge-given-up":
      return set({ merging: null });
    case "workspace.discarded":
      return set({ discarded: JSON.stringify(stored.data), prepared: null, tip: null, tip_branch: null, pending: 0 });
    case "workspace.restored":
      return set({ discarded: null, tip: stored.data.commit ?? null, tip_branch: stored.data.branch ?? null });
    case "workspace.cleared":
      return set({ prepared: null, pending: 0 });
    default:
      // Other events do not touch this table.
      return [];
  }
}

/** A session's workspace as it is on record. */
export interface OnRecord {
  readonly project: string;
  /** The folder of the project that it started from, when that is not the project's own. */
  readonly worktree: string | undefined;
  readonly kind: "copy" | "in-place";
  readonly prepared: EventData<"workspace.prepared"> | undefined;
  readonly tip: string | undefined;
  readonly branch: string | undefined;
  readonly merging: EventData<"workspace.merge-begun"> | undefined;
  readonly discarded: EventData<"workspace.discarded"> | undefined;
  /** When its last activity ended, about. */
  readonly rested: string | undefined;
}

export function onRecord(row: Row): OnRecord {
  return {
    project: row["project"] as string,
    worktree: (row["worktree"] as string | null) ?? undefined,
    kind: row["kind"] as OnRecord["kind"],
    prepared: parsed(row["prepared"]) as OnRecord["prepared"],
    tip: (row["tip"] as string | null) ?? undefined,
    branch: (row["tip_branch"] as string | null) ?? undefined,
    merging: parsed(row["merging"]) as OnRecord["merging"],
    discarded: parsed(row["discarded"]) as OnRecord["discarded"],
    rested: (row["rested"] as string | null) ?? undefined,
  };
}

function parsed(value: Row[string] | undefined): unknown {
  return typeof value === "string" ? JSON.parse(value) : undefined;
}
