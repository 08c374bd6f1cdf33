import type { WorkspaceDiff } from "@corral/client";
import { changedLines, leftOutWords } from "./changed-files.ts";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { flaggedLine } from "./flagged.ts";
import { colouredPatch } from "../terminal/patch-colours.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const diff = defineCommand({
  name: "diff",
  usage: "diff [SESSION] [--stat] [--json]",
  summary: "Shows what a session changed, from where it began, what it has not committed included.",
  details:
    "Without SESSION it is the latest one of this project. Nothing that the agent wrote is run for it. What would\nrun by itself, or is obeyed, once it is merged is named at the end.",
  examples: [
    ["corral diff", "what the latest session changed"],
    ["corral diff --stat", "only which files, and how much"],
    ["corral diff ses_… | git apply --stat", "hand it on"],
  ],
  args: {
    stat: { type: "boolean", description: "only the files and how many lines of each" },
    json: { type: "boolean", description: "print it as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
  async run({ stat, json, _: words }, world) {
    const client = await connectDaemon(world);
    const found = await client.sessions.diff(await whichSession(client, words, world));
    if (json === true) world.out.write(jsonLine(found));
    else if (found.files.length === 0) world.err.write("nothing was changed\n");
    else
      world.out.write(
        stat === true ? summary(found) : world.out.isTerminal ? colouredPatch(found.patch, world.out) : found.patch,
      );
    if (json !== true && found.flagged !== undefined) world.err.write(shown(`! ${flaggedLine(found.flagged)}\n`));
    if (json !== true && found.skipped !== undefined) world.err.write(`left out: ${leftOutWords(found.skipped)}\n`);
    if (found.truncated && stat !== true)
      world.err.write(`it is longer than this; see it all with git: ${found.branch ?? ""}\n`);
    return 0;
  },
});

function summary({ files, branch }: WorkspaceDiff): string {
  return shown(`${[...changedLines(files), `${files.length} files on ${branch ?? "no branch yet"}`].join("\n")}\n`);
}
