import * as z from "zod";

/** The content of `daemon.json`, and the line that `corral serve --json` prints. */
export const daemonInfo = z.object({
  url: z.string(),
  pid: z.int(),
  version: z.string(),
  /** It drains and takes no new work; gone soon. */
  stopping: z.literal(true).optional(),
});
export type DaemonInfo = z.infer<typeof daemonInfo>;

export const stopDaemon = z.object({ now: z.boolean().default(false) });
export type StopDaemon = z.infer<typeof stopDaemon>;

/** What anyone on the machine may know: that a daemon is there, and which. */
export const health = z.object({ ok: z.literal(true), version: z.string() });
export type Health = z.infer<typeof health>;

export const stopAnswer = z.object({ kind: z.literal("stopping") });
export type StopAnswer = z.infer<typeof stopAnswer>;
