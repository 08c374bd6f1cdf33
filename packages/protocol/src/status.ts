import * as z from "zod";
import type { SessionState } from "./state.ts";

const count = z.int().nonnegative();

/** What a running daemon says of itself. */
export const daemonStatus = z.object({
  version: z.string(),
  pid: z.int(),
  url: z.string(),
  home: z.string(),
  uptimeSeconds: z.number().nonnegative(),
  /** How many sessions are in each state. */
  sessions: z.object({
    idle: count,
    thinking: count,
    waiting: count,
    recovering: count,
    failed: count,
    parked: count,
  }) satisfies z.ZodType<Record<SessionState["state"], number>>,
  /** What is taken of what there is, and how many sessions wait for some of it. */
  places: z.object({
    sessions: z.object({ taken: count, most: count }),
    environments: z.object({ taken: count, most: count }),
    inLine: count,
  }),
  /** What has run out, so that sessions wait although they have a place. They go on by themselves when there is some again. */
  shortage: z.object({ sessions: count, message: z.string(), hint: z.string().optional() }).optional(),
  /** Runner processes, and how many sessions each has in its hands. */
  runners: z.array(z.object({ pid: z.int(), sessions: count })),
  /** `freeBytes`: room on the disk that holds the home. */
  disk: z.object({ freeBytes: count, databaseBytes: count, logBytes: count }),
  /** What is wrong with the database, or was: `damaged` ones lie where they were set aside until somebody removes them. */
  database: z.object({ isSuspect: z.boolean(), damaged: z.array(z.string()) }),
  seq: count,
});
export type DaemonStatus = z.infer<typeof daemonStatus>;
