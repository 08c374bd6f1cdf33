import { z } from "zod";
import { type FileVersion, versionOf } from "../environments/index.ts";
import { carryOut, lookAt, missing, readTextFile } from "./changes.ts";
import { hasChanged, hasChangedSince } from "./known-file.ts";
import { numbered } from "./match.ts";
import { pathIn } from "./path.ts";
import { heading, marked, previewOf } from "./preview.ts";
import { replaceIn, type Replaced } from "./replace.ts";
import type { Tool } from "./tool.ts";

const parameters = z.object({
  path: z.string().min(1).max(4096).describe("The file, from the workspace on."),
  old: z
    .string()
    .max(1_000_000)
    .describe("What is there now, without line numbers, and enough of it to be there only once."),
  new: z.string().max(1_000_000).describe("What is to be there instead."),
  all: z.boolean().optional().describe("Replace it wherever it is."),
});

export interface Edited {
  readonly path: string;
  /** First lines of what was put in. None: it was found done after a crash. */
  readonly lines: readonly number[];
  /** What stands there now, where it was not found exactly as quoted. */
  readonly nearly?: string;
  readonly versions: Readonly<Record<string, FileVersion>>;
}

export const editTool: Tool<z.infer<typeof parameters>, Edited> = {
  name: "edit",
  description:
    "Replaces a piece of a text file by another. Quote it exactly; whole lines are also found when only their white space differs.",
  parameters,
  effect: "writes",
  preview: ({ path, old, new: next }) => previewOf([heading(path), ...marked("-", old), ...marked("+", next)], [path]),
  touches: ({ path }) => ({ paths: [{ path, access: "write" }] }),

  async intend({ path: asked, ...wish }, { surroundings, seen }) {
    const environment = await surroundings.environment();
    const path = pathIn(environment, asked);
    const there = await readTextFile(environment.files, path);
    if (there === undefined) throw await missing(environment, path);
    const { text, closeness } = replaceIn(there.text, wish);
    // A piece quoted exactly is there, whatever else has changed; one that is nearly there may be another.
    if (closeness !== "exact" && hasChangedSince(there, seen)) throw hasChanged(path);
    return [{ path, before: there.version, after: versionOf(Buffer.from(text)) }];
  },

  async run({ path: _, ...wish }, context) {
    let replaced: Replaced | undefined;
    const versions = await carryOut(context, (_change, text) => {
      replaced = replaceIn(text ?? "", wish);
      return replaced.text;
    });
    return { path: context.intended[0]!.path, lines: replaced?.lines ?? [], ...nearly(replaced, wish.new), versions };
  },

  recover: lookAt,

  describe({ path, lines, nearly: there }) {
    if (lines.length === 0) return { outcome: "ok", text: `Changed ${path}.` };
    const where =
      lines.length === 1 ? `at line ${lines[0]}` : `in ${lines.length} places, at lines ${lines.join(", ")}`;
    const note = there === undefined ? "" : ` It was there with other white space; this is there now:\n${there}`;
    return { outcome: "ok", text: `Changed ${path} ${where}.${note}` };
  },
};

function nearly(replaced: Replaced | undefined, put: string): { nearly?: string } {
  if (replaced === undefined || replaced.closeness === "exact") return {};
  const from = replaced.lines[0] ?? 1;
  const lines = replaced.text
    .split(/\r?\n/)
    .slice(from - 1, from - 1 + Math.min(put.replace(/\n$/, "").split("\n").length, 20));
  return { nearly: numbered(lines, from) };
}
