import { z } from "zod";
import { bound, type Bounded, wholeNote } from "./bounds.ts";
import { pathIn } from "./path.ts";
import type { Tool } from "./tool.ts";

const mostMatches = 5000;

const parameters = z.object({
  pattern: z.string().min(1).max(10_000).describe("A regular expression, for one line."),
  fixed: z.boolean().optional().describe("The pattern is a plain text."),
  ignoreCase: z.boolean().optional(),
  in: z.string().max(4096).optional().describe("The folder; the workspace unless given."),
  glob: z.string().max(1000).optional().describe("Only files whose path fits, such as *.ts."),
});

export interface Found extends Bounded {
  readonly matches: number;
  readonly files: number;
  readonly complete: boolean;
}

export const searchTool: Tool<z.infer<typeof parameters>, Found> = {
  name: "search",
  description:
    "Finds lines in the files of the workspace, without binary ones and what .gitignore names, as path:line: text.",
  parameters,
  effect: "reads",
  touches: ({ in: path = "." }) => ({ paths: [{ path, access: "read", isBelow: true }] }),

  async run({ in: folder, ...wish }, context) {
    const environment = await context.surroundings.environment();
    const path = folder === undefined ? "." : pathIn(environment, folder);
    const { items, complete } = await environment.files.search({
      pattern: wish.pattern,
      fixed: wish.fixed ?? false,
      ignoreCase: wish.ignoreCase ?? false,
      ...(wish.glob === undefined ? {} : { glob: wish.glob }),
      ...(path === "." ? {} : { in: path }),
      limit: mostMatches,
      timeoutMs: 20_000,
      signal: context.signal,
    });
    const text = items.map((match) => `${match.path}:${match.line}: ${match.text}`).join("\n");
    const files = new Set(items.map((match) => match.path)).size;
    return { ...(await bound(text, context)), matches: items.length, files, complete };
  },

  describe(result) {
    if (result.matches === 0)
      return { outcome: "ok", text: result.complete ? "(no match)" : "(no match in the time there was)" };
    const count = `(${result.matches} lines in ${result.files} files${result.complete ? "" : ", and there are more: narrow it down"})`;
    const needsCount = !result.complete || result.whole !== undefined;
    return {
      outcome: "ok",
      text: [result.text, needsCount ? count : "", wholeNote(result)].filter((part) => part !== "").join("\n"),
    };
  },
};
