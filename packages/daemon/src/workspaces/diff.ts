import type { WorkspaceDiff } from "@corral/protocol";
import { type BringingBack, lookAt } from "./bring-back.ts";
import { flaggedBetween } from "./changes.ts";
import { type Depot, gitApart } from "./depot.ts";
import { difference } from "./difference.ts";
import type { Skipped } from "./staging.ts";

/** What a workspace holds now, against where it began. Only looked at: nothing is brought, no branch moves. */
export async function changesIn(
  work: BringingBack,
): Promise<
  Pick<WorkspaceDiff, "files" | "patch" | "truncated" | "flagged"> & { readonly skipped: readonly Skipped[] }
> {
  const { depot, tree, skipped } = await lookAt(work);
  const ask: Depot["ask"] = (args, options) => depot.ask(args, options);
  const between = { base: work.base, tip: tree };
  const [changes, flagged] = await Promise.all([
    difference({ git: gitApart(ask, "utf8") }, between),
    flaggedBetween(gitApart(ask, "latin1"), between),
  ]);
  return { ...changes, ...(flagged.length === 0 ? {} : { flagged }), skipped };
}
