import type { MergeAnswer } from "@corral/client";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { flaggedLine } from "./flagged.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const merge = defineCommand({
  name: "merge",
  usage: "merge [SESSION] [--squash | --no-ff] [--json]",
  summary: "Merges what a session did into the branch that you have checked out.",
  details: `Without SESSION it is the latest one of this project. Conflicts, and uncommitted changes of yours that would be in the
way, are told before anything is touched. So is what would run by itself, or is obeyed, afterwards (scripts, hooks, CI, settings of
editors and agents); \`corral diff\` shows it. Your hooks do not run. A merge is done once: said again, it takes over only what
the session has done since.`,
  examples: [
    ["corral merge", "take over what the latest session did"],
    ["corral merge --squash", "as one commit of your own"],
  ],
  args: {
    squash: { type: "boolean", description: "make one commit of all its work" },
    "no-ff": { type: "boolean", description: "make a merge commit even where moving the branch would do" },
    json: { type: "boolean", description: "print the outcome as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
  async run({ squash, "no-ff": noFastForward, json, _: words }, world) {
    if (squash === true && noFastForward === true) throw new UsageError("--squash and --no-ff exclude each other");
    const client = await connectDaemon(world);
    const session = await whichSession(client, words, world);
    const { flagged } = await client.sessions.diff(session);
    if (json !== true && flagged !== undefined) world.err.write(shown(`! ${flaggedLine(flagged)}\n`));
    const how = squash === true ? "squash" : noFastForward === true ? "no-ff" : undefined;
    const answer = await client.sessions.merge(session, how === undefined ? {} : { how });
    if (json === true) world.out.write(jsonLine(answer));
    else world.err.write(shown(told(answer)));
    return 0;
  },
});

function told(answer: MergeAnswer): string {
  if (answer.kind === "nothing-to-merge") return "there is nothing to merge\n";
  const { branch, how, from, to, since, already } = answer;
  const what = since === undefined ? branch : `what is new on ${branch} since ${since.slice(0, 10)}`;
  return `${already === true ? "already merged" : "merged"} ${what} (${how}): ${from.slice(0, 10)} → ${to.slice(0, 10)}\n`;
}
