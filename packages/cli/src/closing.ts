import type { Client, WorkspaceDiff } from "@corral/client";
import type { SessionId, WireEvent } from "@corral/protocol";
import { isKnown } from "@corral/protocol/event-types";
import { counted, dollars, tokens } from "./figures.ts";
import { spent } from "./status-line.ts";
import { bold, coloured, dim, type Output, shownInLine } from "./terminal.ts";
import { wrap } from "./wrap.ts";

/** Sums up what a session's requests took, as its events tell. */
export class Tally {
  #requests = 0;
  #input = 0;
  #output = 0;
  #cost = 0;
  #unpriced = 0;

  event(event: WireEvent): void {
    if (!isKnown(event) || event.type !== "turn.replied") return;
    const { usage, costUsd } = event.data;
    this.#requests += 1;
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#cost += costUsd ?? 0;
    if (costUsd === undefined) this.#unpriced += 1;
  }

  words(): string {
    if (this.#requests === 0) return "";
    const counts = `${counted(this.#requests, "request")}, ${tokens(this.#input)} in, ${tokens(this.#output)} out`;
    if (this.#unpriced === this.#requests) return counts;
    return `${dollars(this.#cost)}${this.#unpriced > 0 ? " at least" : ""}, ${counts}`;
  }
}

const mostFiles = 8;
const next = "look: `corral diff`, take it over: `corral merge`, away with it: `corral discard`";

/** What a person wants to know when an agent is done: what it took, what it changed, and what to do with that. */
export async function closingWords(
  client: Client,
  session: SessionId,
  { tally, ms }: { readonly tally: Tally; readonly ms: number },
  out: Output,
): Promise<string> {
  // What is told here is told by other commands too: it is left out rather than made an error.
  const diff = await client.sessions.diff(session).catch(() => undefined);
  const took = [spent(ms), tally.words()].filter((each) => each !== "").join(", ");
  return `\n${coloured("✓", "green", out)} ${bold("done", out)} ${dim(`in ${took}`, out)}\n${diff === undefined ? "" : changes(diff, out)}`;
}

function changes({ files }: WorkspaceDiff, out: Output): string {
  if (files.length === 0) return dim("  nothing was changed\n", out);
  const lines = files.slice(0, mostFiles).map(({ path, insertions, deletions }) => {
    const figures =
      insertions === null
        ? "binary"
        : `${coloured(`+${insertions}`, "green", out)} ${coloured(`-${deletions}`, "red", out)}`;
    return `  ${shownInLine(path)}  ${figures}\n`;
  });
  const more = files.length > mostFiles ? dim(`  and ${counted(files.length - mostFiles, "more file")}\n`, out) : "";
  return `${lines.join("")}${more}${dim(wrap(next, out.columns, "  "), out)}\n`;
}
