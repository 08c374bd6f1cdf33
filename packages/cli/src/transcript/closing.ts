import type { Client, WorkspaceDiff } from "@corral/client";
import { type TurnFacts, usedIn } from "@corral/client/transcript";
import type { SessionView } from "@corral/protocol";
import { counted, dollars, tokens } from "../terminal/figures.ts";
import { spent } from "../terminal/status-line.ts";
import { bold, coloured, dim, type Output, shownInLine } from "../terminal/output.ts";
import { wrap } from "../terminal/wrap.ts";

/** What requests took, in words; empty where there were none. */
export function usageWords(turns: readonly TurnFacts[]): string {
  const { requests, inputTokens, outputTokens, costUsd, unpriced } = usedIn(turns);
  if (requests === 0) return "";
  const counts = `${counted(requests, "request")}, ${tokens(inputTokens)} in, ${tokens(outputTokens)} out`;
  if (unpriced === requests) return counts;
  return `${dollars(costUsd)}${unpriced > 0 ? " at least" : ""}, ${counts}`;
}

const mostFiles = 8;
const next = {
  copy: "look: `corral diff`, take it over: `corral merge`, away with it: `corral discard`",
  "in-place": "it is in your folder: `corral diff`",
};

/** What a person wants to know when an agent is done: what it took, what it changed, and what to do with that. */
export async function closingWords(
  client: Client,
  session: Pick<SessionView, "id" | "workspace">,
  { turns, ms }: { readonly turns: readonly TurnFacts[]; readonly ms: number },
  out: Output,
): Promise<string> {
  // What is told here is told by other commands too: it is left out rather than made an error.
  const diff = await client.sessions.diff(session.id).catch(() => undefined);
  const took = [spent(ms), usageWords(turns)].filter((each) => each !== "").join(", ");
  return `\n${coloured("✓", "green", out)} ${bold("done", out)} ${dim(`in ${took}`, out)}\n${diff === undefined ? "" : changes(diff, session.workspace, out)}`;
}

function changes({ files }: WorkspaceDiff, workspace: SessionView["workspace"], out: Output): string {
  if (files.length === 0) return dim("  nothing was changed\n", out);
  const lines = files.slice(0, mostFiles).map(({ path, insertions, deletions }) => {
    const figures =
      insertions === null
        ? "binary"
        : `${coloured(`+${insertions}`, "green", out)} ${coloured(`-${deletions}`, "red", out)}`;
    return `  ${shownInLine(path)}  ${figures}\n`;
  });
  const more = files.length > mostFiles ? dim(`  and ${counted(files.length - mostFiles, "more file")}\n`, out) : "";
  return `${lines.join("")}${more}${dim(wrap(next[workspace], out.columns, "  "), out)}\n`;
}
