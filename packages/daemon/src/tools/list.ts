import { z } from "zod";
import type { FileEntry } from "../environments/index.ts";
import { bound, type Bounded, wholeNote } from "./bounds.ts";
import { pathIn } from "./path.ts";
import type { Tool } from "./tool.ts";

const mostEntries = 10_000;

const parameters = z.object({
  path: z.string().max(4096).optional().describe("The folder; the workspace unless given."),
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Finds files below the folder instead, such as **/*.test.ts; what .gitignore names is left out."),
});

export interface ListedFiles extends Bounded {
  readonly count: number;
  readonly complete: boolean;
}

export const listTool: Tool<z.infer<typeof parameters>, ListedFiles> = {
  name: "list",
  description: "Lists a folder, folders with a slash, or finds files by a pattern.",
  parameters,
  effect: "reads",
  touches: ({ path = "." }) => ({ paths: [{ path, access: "read" }] }),

  async run({ path: asked = ".", pattern }, context) {
    const environment = await context.surroundings.environment();
    const { files } = environment;
    const path = pathIn(environment, asked);
    const { signal } = context;
    const options = { limit: mostEntries, signal };
    const { items, complete } =
      pattern === undefined
        ? await files.list(path, options).then((listed) => ({ ...listed, items: listed.items.map(lineOf) }))
        : await files.glob(pattern, { ...options, ...(path === "." ? {} : { in: path }) });
    return { ...(await bound(items.join("\n"), context)), count: items.length, complete };
  },

  describe(result) {
    const empty = result.count === 0 ? "(nothing)" : "";
    const more = result.complete
      ? ""
      : `(there are more than these ${result.count}: name a folder or a narrower pattern)`;
    const text = [result.text, empty, more, wholeNote(result)].filter((part) => part !== "").join("\n");
    return { outcome: "ok", text };
  },
};

function lineOf({ name, kind, size }: FileEntry): string {
  if (kind === "file") return `${name}  ${size}`;
  return kind === "folder" ? `${name}/` : `${name}  (${kind})`;
}
