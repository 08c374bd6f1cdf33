import { z } from "zod";
import { type FileVersion, versionOf } from "../environments/index.ts";
import { carryOut, lookAt, readTextFile } from "./changes.ts";
import { mustBeSeen } from "./known-file.ts";
import { pathIn } from "./path.ts";
import { heading, marked, previewOf } from "./preview.ts";
import type { Tool } from "./tool.ts";

const parameters = z.object({
  path: z.string().min(1).max(4096).describe("The file, from the workspace on."),
  content: z.string().max(4_000_000).describe("All that it is to hold."),
});

export interface Written {
  readonly path: string;
  readonly bytes: number;
  readonly isNew: boolean;
  readonly versions: Readonly<Record<string, FileVersion>>;
}

export const writeTool: Tool<z.infer<typeof parameters>, Written> = {
  name: "write",
  description:
    "Makes a file, with the folders above it, or replaces all of one that you have read. To change a part of a file, use edit.",
  parameters,
  effect: "writes",
  preview: ({ path, content }) => previewOf([heading(path), ...marked("+", content)], [path]),
  touches: ({ path }) => ({ paths: [{ path, access: "write" }] }),

  async intend({ path: asked, content }, { surroundings, seen }) {
    const environment = await surroundings.environment();
    const path = pathIn(environment, asked);
    const there = await readTextFile(environment.files, path, { binary: "as it is" });
    const after = versionOf(Buffer.from(content));
    if (there !== undefined && there.version !== after) mustBeSeen(there, seen);
    return [{ path, before: there?.version ?? null, after }];
  },

  async run({ content }, context) {
    const [change] = context.intended;
    const versions = await carryOut(context, () => content);
    return { path: change!.path, bytes: Buffer.byteLength(content), isNew: change!.before === null, versions };
  },

  recover: lookAt,

  describe({ path, bytes, isNew }) {
    return { outcome: "ok", text: `${isNew ? "Made" : "Replaced"} ${path} (${bytes} bytes).` };
  },
};
