import * as z from "zod";

/** A step of an agent's own list of what is to be done. */
export const todoItem = z.object({
  text: z.string().min(1).max(500),
  state: z.enum(["open", "doing", "done"]),
});
export type TodoItem = z.infer<typeof todoItem>;
