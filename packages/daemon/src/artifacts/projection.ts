import {
  type ArtifactId,
  type ArtifactKind,
  type ArtifactView,
  type CallId,
  isAbout,
  type LeftOut,
  type StoredEvent,
} from "@corral/protocol";
import type { Change, Projection, Row } from "../log/index.ts";
import type { Digest } from "../storage/index.ts";
import type { ArtifactOwner } from "./port.ts";

/** Who refers to which bytes. One that goes on after it was kept refers to what it held until it is kept again. */
const artifacts: Projection = {
  table: "artifacts",
  version: 1,
  columns: {
    owner: "text",
    name: "text",
    kind: "text",
    call: "text",
    state: "text",
    digest: "text",
    bytes: "integer",
    left_out: "text",
    announced_at: "text",
    kept_at: "text",
    seq: "integer",
  },
  indexes: [["owner", "seq"], ["state"], ["digest"]],
  changes,
};

export const artifactProjections: readonly Projection[] = [artifacts];

function changes(stored: StoredEvent): readonly Change[] {
  if (stored.type === "session.expired") return (stored.data.artifacts ?? []).map((key) => ({ key, delete: true }));
  if (!isAbout("artifact", stored)) return [];
  switch (stored.type) {
    case "artifact.announced": {
      const { id, name, kind, callId = null } = stored.data;
      const row = { owner: stored.stream, name, kind, call: callId, state: "growing", seq: stored.seq };
      return [{ key: id, set: { ...row, announced_at: stored.approximateCreationTime } }];
    }
    case "artifact.kept": {
      const { id, digest, bytes, leftOut } = stored.data;
      const left_out = leftOut === undefined ? null : JSON.stringify(leftOut);
      return [{ key: id, set: { state: "kept", digest, bytes, left_out, kept_at: stored.approximateCreationTime } }];
    }
    case "artifact.expired":
      return [{ key: stored.data.id, set: { state: "expired", digest: null } }];
  }
}

/** An artifact as the log has it. */
export interface Recorded {
  readonly id: ArtifactId;
  readonly owner: ArtifactOwner;
  readonly name: string;
  readonly kind: ArtifactKind;
  readonly callId: CallId | undefined;
  readonly state: ArtifactView["state"];
  readonly digest: Digest | undefined;
  /** As of the last time it was kept. */
  readonly bytes: number;
  readonly leftOut: LeftOut | undefined;
  readonly announcedAt: string;
  readonly keptAt: string | undefined;
}

export function recordedIn(row: Row): Recorded {
  const leftOut = row["left_out"] as string | null;
  return {
    id: row["key"] as ArtifactId,
    owner: row["owner"] as ArtifactOwner,
    name: row["name"] as string,
    kind: row["kind"] as ArtifactKind,
    callId: (row["call"] as CallId | null) ?? undefined,
    state: row["state"] as ArtifactView["state"],
    digest: (row["digest"] as string | null) ?? undefined,
    bytes: (row["bytes"] as number | null) ?? 0,
    leftOut: leftOut === null ? undefined : (JSON.parse(leftOut) as LeftOut),
    announcedAt: row["announced_at"] as string,
    keptAt: (row["kept_at"] as string | null) ?? undefined,
  };
}
