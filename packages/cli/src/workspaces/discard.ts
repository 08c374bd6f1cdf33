import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const discard = defineCommand({
  name: "discard",
  usage: "discard [SESSION] [--undo] [--json]",
  summary: "Throws away what a session did, in a way that can be undone.",
  details: `Without SESSION it is the latest one of this project. Its processes end, its branch leaves your repository, and its
workspace is kept aside for the days that the setting workspace.discardedDays says; a branch that you went on with yourself
stays. The session's next prompt begins with a new workspace.`,
  examples: [
    ["corral discard", "forget about what the latest session did"],
    ["corral discard --undo", "have it back"],
  ],
  args: {
    undo: { type: "boolean", description: "bring back what was discarded last" },
    json: { type: "boolean", description: "print the outcome as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
  async run({ undo, json, _: words }, world) {
    const client = await connectDaemon(world);
    const id = await whichSession(client, words, world);
    const answer = await client.sessions.discard(id, { undo: undo === true });
    if (json === true) world.out.write(jsonLine(answer));
    else if (answer.kind === "restored") world.err.write(shown(`${id} is back${on(answer.branch)}\n`));
    else
      world.err.write(
        shown(`discarded what ${id} did${on(answer.branch)}; \`corral discard ${id} --undo\` brings it back\n`),
      );
    return 0;
  },
});

function on(branch: string | undefined): string {
  return branch === undefined ? "" : ` (${branch})`;
}
