import type { RouteTable } from "./route.ts";

export const snapshots = {
  "snapshots.list": {
    route: "GET /api/sessions/:id/snapshots",
    about: "Lists what a session's workspace held, moment by moment, oldest first.",
    scope: "read",
    reach: "session",
    params: { id: "sessionId" },
    answer: "snapshotList",
    unwrap: "snapshots",
  },
  "snapshots.take": {
    route: "POST /api/sessions/:id/snapshots",
    about: "Keeps what the workspace holds now.",
    scope: "operate",
    reach: "session",
    params: { id: "sessionId" },
    answer: "takeSnapshotAnswer",
  },
  "snapshots.get": {
    route: "GET /api/snapshots/:id",
    about: "Tells what is known of a snapshot.",
    scope: "read",
    reach: "route",
    params: { id: "snapshotId" },
    answer: "snapshotView",
  },
  "snapshots.diff": {
    route: "GET /api/snapshots/:id/diff",
    about: "Tells what changed from this snapshot to another one, or to the files as they are now.",
    scope: "read",
    reach: "route",
    params: { id: "snapshotId" },
    query: "compareSnapshot",
    answer: "snapshotDiff",
  },
  "snapshots.restore": {
    route: "POST /api/snapshots/:id/restore",
    about:
      "Makes the workspace's files, or some of them, what they were then; what they are before that is kept as a snapshot, so it can be undone.",
    scope: "operate",
    reach: "route",
    params: { id: "snapshotId" },
    body: "restoreSnapshot",
    answer: "restoreAnswer",
  },
} as const satisfies RouteTable;
