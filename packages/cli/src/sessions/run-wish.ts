import { agentName, type CreateSession, effort, type SnapshotId, snapshotId } from "@corral/protocol";
import { environmentIn } from "../environments/environment-flags.ts";
import { oneOf, UsageError } from "../flags.ts";

export interface WishFlags {
  readonly agent?: string | undefined;
  readonly effort?: string | undefined;
  readonly env?: string | undefined;
  readonly image?: string | undefined;
  readonly network?: string | undefined;
  readonly dirty?: boolean | undefined;
  readonly from?: string | undefined;
}

/** What of a new session is judged by schemas. */
export function wishIn(
  flags: WishFlags,
  workspace: "copy" | "in-place" | undefined,
): Pick<CreateSession, "environment" | "agent" | "effort" | "base"> {
  return {
    environment: environmentIn(flags),
    agent: oneOf("agent", flags.agent, agentName, "a name of letters, digits, . _ and -"),
    effort: oneOf("effort", flags.effort, effort, "low, medium or high"),
    base: baseIn(flags, workspace),
  };
}

function baseIn(
  { dirty, from }: { readonly dirty?: boolean | undefined; readonly from?: string | undefined },
  workspace: "copy" | "in-place" | undefined,
): "dirty" | { snapshot: SnapshotId } | undefined {
  if (dirty === true && from !== undefined) throw new UsageError("--dirty and --from exclude each other");
  if (workspace === "in-place" && (dirty === true || from !== undefined))
    throw new UsageError(`--${dirty === true ? "dirty" : "from"} needs a copy as the workspace`);
  if (from === undefined) return dirty === true ? "dirty" : undefined;
  const parsed = snapshotId.safeParse(from);
  if (parsed.success) return { snapshot: parsed.data };
  throw new UsageError(`${JSON.stringify(from)} is not a snapshot id`, "`corral snapshots` lists them");
}
