import { askTool } from "./ask.ts";
import { editTool } from "./edit.ts";
import { listTool } from "./list.ts";
import { patchTool } from "./patch.ts";
import { readTool } from "./read.ts";
import { searchTool } from "./search.ts";
import { shellTool } from "./shell.ts";
import { todoTool } from "./todo.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write.ts";

/** What every agent may have, in the order in which models are shown it. */
export const builtInTools: readonly Tool[] = [
  readTool,
  listTool,
  searchTool,
  writeTool,
  editTool,
  patchTool,
  shellTool,
  todoTool,
  askTool,
];
