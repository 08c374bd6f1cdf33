import { type CallChange, CorralError } from "@corral/protocol";
import { z } from "zod";
import { type Environment, type FileVersion, versionOf } from "../environments/index.ts";
import { carryOut, lookAt, missing, readTextFile, type TextFile } from "./changes.ts";
import { applyHunks } from "./hunks.ts";
import { hasChanged, hasChangedSince } from "./known-file.ts";
import { type PatchStep, readPatch } from "./patch-text.ts";
import { pathIn } from "./path.ts";
import { previewOf } from "./preview.ts";
import type { SeenFiles } from "./seen.ts";
import type { Tool } from "./tool.ts";

const parameters = z.object({ patch: z.string().min(1).max(4_000_000).describe("The patch, as told above.") });

export interface Patched {
  readonly files: readonly {
    readonly path: string;
    readonly did: "add" | "update" | "delete" | "move";
    readonly from?: string;
  }[];
  readonly versions: Readonly<Record<string, FileVersion>>;
}

export const patchTool: Tool<z.infer<typeof parameters>, Patched> = {
  name: "patch",
  description: `Changes several files at once; nothing is written unless all of it fits. The patch is a text:
*** Begin Patch
*** Add File: src/new.ts
+all lines of it, each with a plus
*** Update File: src/old.ts
*** Move to: src/renamed.ts
@@ function above(the change) {
 a line that stays
-a line that goes
+a line that comes
*** Delete File: src/gone.ts
*** End Patch
Move to is only for files that move. Give two or three lines that stay around each change; @@ names a line above it where these are not enough.`,
  parameters,
  effect: "writes",
  preview: ({ patch }) => previewOf(patch.split("\n"), writtenBy(patch)),
  touches: ({ patch }) => ({ paths: writtenBy(patch).map((path) => ({ path, access: "write" })) }),

  async intend({ patch }, { surroundings, seen }) {
    const environment = await surroundings.environment();
    return Promise.all(readPatch(patch).map((step) => planStep(environment, step, seen)));
  },

  async run({ patch }, context) {
    const environment = await context.surroundings.environment();
    const steps = new Map(readPatch(patch).map((step) => [targetOf(environment, step), step]));
    const versions = await carryOut(context, ({ path }, text) => contentOf(steps.get(path)!, path, text));
    return { files: context.intended.map(toldOf), versions };
  },

  recover: lookAt,

  describe({ files }) {
    const lines = files.map(({ did, path, from }) => `${words[did]} ${from === undefined ? "" : `${from} to `}${path}`);
    return { outcome: "ok", text: lines.join("\n") };
  },
};

const words = { add: "Made", update: "Changed", delete: "Deleted", move: "Moved" } as const;

function toldOf({ path, from, before, after }: CallChange): Patched["files"][number] {
  if (from !== undefined) return { path, did: "move", from };
  return { path, did: before === null ? "add" : after === null ? "delete" : "update" };
}

/** What is no patch fails when it is carried out, before anything is written. */
function writtenBy(patch: string): readonly string[] {
  return readPatch(patch).flatMap((step) => [
    step.path,
    ...(step.kind === "update" && step.to !== undefined ? [step.to] : []),
  ]);
}

function targetOf(environment: Environment, step: PatchStep): string {
  return pathIn(environment, step.kind === "update" ? (step.to ?? step.path) : step.path);
}

async function planStep(environment: Environment, step: PatchStep, seen: SeenFiles): Promise<CallChange> {
  const path = targetOf(environment, step);
  if (step.kind === "add") {
    if ((await environment.files.stat(path)) !== undefined) throw isThere(path);
    return { path, before: null, after: versionOf(Buffer.from(step.content)) };
  }
  const from = pathIn(environment, step.path);
  const there = await readTextFile(environment.files, from, {
    binary: step.kind === "delete" ? "as it is" : "refused",
  });
  if (there === undefined) throw await missing(environment, from);
  if (step.kind === "delete") return planDeletion(there, seen);
  const after = versionOf(Buffer.from(applyHunks(from, there.text, step.hunks)));
  if (path === from) return { path, before: there.version, after };
  if ((await environment.files.stat(path)) !== undefined) throw isThere(path);
  return { path, from, before: there.version, after };
}

function planDeletion(there: TextFile, seen: SeenFiles): CallChange {
  if (hasChangedSince(there, seen)) throw hasChanged(there.path);
  return { path: there.path, before: there.version, after: null };
}

function contentOf(step: PatchStep, path: string, text: string | undefined): string {
  if (step.kind === "add") return step.content;
  return step.kind === "delete" ? "" : applyHunks(path, text ?? "", step.hunks);
}

function isThere(path: string): CorralError {
  return new CorralError("file.exists", `${path} is there already: update it, or choose another name.`);
}
