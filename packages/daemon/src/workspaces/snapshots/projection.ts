import type { EventData, SnapshotId, SnapshotView, StoredEvent } from "@corral/protocol";
import type { Change, Projection, Row } from "../../log/index.ts";
import { named, type Occupant } from "./occupant.ts";

/** Every snapshot that can be had. `session`: whose it is, which may be a person's shell. */
const snapshots: Projection = {
  table: "snapshots",
  version: 1,
  columns: { session: "text", seq: "integer", tree: "text", at: "text", taken: "text" },
  indexes: [["session", "seq"]],
  changes: changesOfSnapshots,
};

/** The last one of each session or shell. */
const lastSnapshots: Projection = {
  table: "last_snapshots",
  version: 2,
  columns: { snapshot: "text", tree: "text", seq: "integer" },
  changes({ type, stream, seq, data }) {
    if (type === "session.expired") return [{ key: stream, delete: true }];
    if (type === "snapshot.expired" && data.last === true) return [{ key: stream, delete: true }];
    if (type !== "snapshot.taken") return [];
    return [{ key: stream, set: { snapshot: data.snapshotId, tree: data.tree, seq } }];
  },
};

/**
 * People's shells, until they are closed with nothing to keep. `files`: those that are kept in snapshots, of a shell that may write in a copy;
 * null for others. `closed`: it was closed and its files stay. `due`: something may have changed files since the last snapshot.
 */
const shellCopies: Projection = {
  table: "shell_copies",
  version: 1,
  columns: { project: "text", files: "text", closed: "integer", due: "integer" },
  indexes: [["due"]],
  changes: (stored) => (stored.stream.startsWith("shl_") ? changesOfCopies(stored) : []),
};

export const snapshotProjections: readonly Projection[] = [snapshots, lastSnapshots, shellCopies];

function changesOfSnapshots(stored: StoredEvent): readonly Change[] {
  const { type, stream, seq, data, approximateCreationTime: at } = stored;
  if (type === "snapshot.expired") return [{ key: data.snapshotId, delete: true }];
  if (type !== "snapshot.taken") return [];
  const set = { session: stream, seq, tree: data.tree, at, taken: JSON.stringify(data) };
  return [{ key: data.snapshotId, set }];
}

function changesOfCopies({ type, stream: key, data }: StoredEvent): readonly Change[] {
  switch (type) {
    case "shell.opened": {
      const { projectId: project, workspace, environment, path, base, readable, variables } = data;
      const isKept = workspace === "copy" && environment.access !== "read";
      // Older ones do not tell what they began with.
      if (!isKept || project === undefined || base === undefined) return [];
      const files: FilesOfCopy = { path, base, readable, variables };
      return [{ key, set: { project, files: JSON.stringify(files), closed: 0, due: 0 } }];
    }
    case "shell.command-started":
      return data.reads === true ? [] : [{ key, set: { due: 1 } }];
    case "shell.command-ended":
    case "shell.command-unknown":
    case "terminal.closed":
    case "environment.closed":
      return [{ key, set: { due: 1 } }];
    case "snapshot.taken":
      return data.reason === "start" ? [] : [{ key, set: { due: 0 } }];
    case "snapshot.unchanged":
      return [{ key, set: { due: 0 } }];
    case "shell.closed":
      return data.kept === undefined ? [{ key, delete: true }] : [{ key, set: { closed: 1 } }];
    default:
      return [];
  }
}

/** Undefined: no snapshots are taken there. */
export function shellCopyIn(row: Row | undefined): ShellCopy | undefined {
  const files = row?.["files"] ?? null;
  if (row === undefined || files === null) return undefined;
  return {
    project: row["project"] as string,
    prepared: JSON.parse(files as string) as FilesOfCopy,
    isOver: row["closed"] === 1,
  };
}

export interface ShellCopy {
  readonly project: string;
  readonly prepared: FilesOfCopy;
  /** The shell was closed, and its files stay. */
  readonly isOver: boolean;
}

/** What is known of a copy since it was prepared. */
export type FilesOfCopy = Pick<EventData<"workspace.prepared">, "path" | "base" | "head" | "readable" | "variables">;

export function snapshotView(row: Row): SnapshotView {
  const {
    snapshotId: id,
    pack: _,
    ...taken
  } = JSON.parse(row["taken"] as string) as SnapshotView & {
    snapshotId: SnapshotId;
    pack?: string;
  };
  const occupant = row["session"] as Occupant;
  return { ...taken, ...named(occupant), id, seq: row["seq"] as number, at: row["at"] as string };
}
