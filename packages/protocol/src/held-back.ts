import * as z from "zod";

/** A name that others obey, as a command left it in the user's own folder. */
export const heldBackName = z.object({
  /** Relative to the workspace. */
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "other"]),
  /** `changed`: it was there before, and is again what it was, unless `restored` is false. */
  was: z.enum(["made", "changed"]),
  restored: z.boolean().optional(),
  why: z.string(),
});
export type HeldBackName = z.infer<typeof heldBackName>;

/** What a command's result says of it. `there`: it could not be taken aside. */
export const heldBackNote = z.object({
  path: z.string(),
  state: z.enum(["aside", "there"]),
  /** Where it lies now. */
  folder: z.string().optional(),
});
export type HeldBackNote = z.infer<typeof heldBackNote>;
