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

/** The same in words; undefined where there is nothing to say. In an agent's session the operator is asked, in a person's own shell nobody is. */
export function heldBackWords(
  notes: readonly HeldBackNote[] = [],
  whose: "agent" | "person" = "agent",
): string | undefined {
  const named = (state: HeldBackNote["state"]) => notes.filter((each) => each.state === state).map(({ path }) => path);
  const [aside, there] = [named("aside"), named("there")];
  const folders = [...new Set(notes.flatMap(({ folder }) => folder ?? []))];
  const then = whose === "agent" ? "and the operator is asked about them" : `into ${folders.join(", ")}`;
  const sentences = [
    ...(aside.length === 0
      ? []
      : [`held back: ${aside.join(", ")}. Others obey these names, so they were taken out of the folder, ${then}`]),
    ...(there.length === 0 ? [] : [`could not be taken out of the folder: ${there.join(", ")}. Remove them`]),
  ];
  return sentences.length === 0 ? undefined : sentences.join("; ");
}
