import type { SessionId, SnapshotId, SnapshotView, StoredEvent } from "@corral/protocol";
import type { Change, Projection, Row } from "../../log/index.ts";

/** Every snapshot that can be had. */
const snapshots: Projection = {
  table: "snapshots",
  version: 1,
  columns: { session: "text", seq: "integer", tree: "text", at: "text", taken: "text" },
  indexes: [["session", "seq"]],
  changes: changesOfSnapshots,
};

/** The last one of each session. */
const lastSnapshots: Projection = {
  table: "last_snapshots",
  version: 1,
  columns: { snapshot: "text", tree: "text", seq: "integer" },
  changes({ type, stream, seq, data }) {
    if (type === "session.expired") return [{ key: stream, delete: true }];
    if (type !== "snapshot.taken") return [];
    return [{ key: stream, set: { snapshot: data.snapshotId, tree: data.tree, seq } }];
  },
};

export const snapshotProjections: readonly Projection[] = [snapshots, lastSnapshots];

function changesOfSnapshots(stored: StoredEvent): readonly Change[] {
  const { type, stream, seq, data, approximateCreationTime: at } = stored;
  if (type === "snapshot.expired") return [{ key: data.snapshotId, delete: true }];
  if (type !== "snapshot.taken") return [];
  const set = { session: stream, seq, tree: data.tree, at, taken: JSON.stringify(data) };
  return [{ key: data.snapshotId, set }];
}

export function snapshotView(row: Row): SnapshotView {
  const {
    snapshotId: id,
    pack: _,
    ...taken
  } = JSON.parse(row["taken"] as string) as SnapshotView & {
    snapshotId: SnapshotId;
    pack?: string;
  };
  return { ...taken, id, session: row["session"] as SessionId, seq: row["seq"] as number, at: row["at"] as string };
}
