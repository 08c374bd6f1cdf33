import * as z from "zod";

/** The settings by which a session may have to wait until others are done. */
export const placeLimit = z.enum([
  "sessions.atOnce",
  "sessions.atOncePerProject",
  "environments.atOnce",
  "environments.atOncePerProject",
]);
export type PlaceLimit = z.infer<typeof placeLimit>;

/** Where a session stands that waits for a place. */
export const placeInLine = z.object({
  /** The one that keeps it waiting, and how many it allows. */
  limit: placeLimit,
  most: z.int().positive(),
  /** 1: it is the next. */
  position: z.int().positive(),
});
export type PlaceInLine = z.infer<typeof placeInLine>;
