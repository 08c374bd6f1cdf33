import * as z from "zod";

/** A copy of the log, as it was at one moment. */
export const backupView = z.object({
  /** Where it is, on the daemon's machine. */
  path: z.string(),
  bytes: z.int().nonnegative(),
  events: z.int().nonnegative(),
  /** The seq of the newest event in it. */
  seq: z.int().nonnegative(),
});
export type BackupView = z.infer<typeof backupView>;
