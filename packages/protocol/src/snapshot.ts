import * as z from "zod";
import { callId, commandId, snapshotId } from "./id.ts";
import { skippedFile } from "./workspace.ts";

/** All files of a workspace at one moment, tracked or not. `tree` is its content's address: equal trees, equal files. */
export const snapshotTaken = z.object({
  snapshotId,
  tree: z.string(),
  /** The one before it in this workspace. */
  previous: snapshotId.nullable(),
  /** `start`: before any work. `removal`: before the folder goes. `person`: somebody asked for it. */
  reason: z.enum(["start", "calls", "removal", "person"]),
  /** The calls, or commands of a person's shell, that ended since the one before: who made the difference. */
  calls: z.array(callId),
  commands: z.array(commandId),
  /** Counted from the one before. */
  files: z.int(),
  insertions: z.int(),
  deletions: z.int(),
  skipped: z.array(skippedFile),
});
export type SnapshotTaken = z.infer<typeof snapshotTaken>;
