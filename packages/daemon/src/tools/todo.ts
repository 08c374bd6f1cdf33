import { event, type TodoItem, todoItem, todoLines } from "@corral/protocol";
import { z } from "zod";
import type { Tool } from "./tool.ts";

const parameters = z.object({
  items: z.array(todoItem).max(100).describe("The whole list, in order, in place of the one before."),
});

export interface TodoWritten {
  readonly items: readonly TodoItem[];
}

export const todoTool: Tool<z.infer<typeof parameters>, TodoWritten> = {
  name: "todo",
  description:
    "Keeps your list of what is to be done, which the user sees. Give all of it each time: one item is doing, and what you have checked is done.",
  parameters,
  // The list is the session's record, not a file: written twice it is the same.
  effect: "reads",

  run({ items }, { record }) {
    record(event("todo.changed", { items }));
    return Promise.resolve({ items });
  },

  describe({ items }) {
    return { outcome: "ok", text: items.length === 0 ? "The list is empty." : todoLines(items).join("\n") };
  },
};
