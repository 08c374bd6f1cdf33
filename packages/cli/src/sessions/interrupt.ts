import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine } from "../terminal/output.ts";
import { sessionWords, whichSession } from "./which-session.ts";

export const interrupt = defineCommand({
  name: "interrupt",
  usage: "interrupt [SESSION] [--boundary] [--json]",
  summary: "Ends what a session does, now or when its turn has ended. What it did is kept.",
  details: `${sessionWords} Without SESSION it is that one, too. The queue is parked by it: \`corral queue resume\` or a steer lets the session
go on, also one that waited to be heard: it begins at once. It is final: after a restart the session does not take it up again.`,
  examples: [
    ["corral interrupt", "stop the latest session of this project, its command too"],
    ["corral interrupt @last --boundary", "let the turn finish first"],
  ],
  args: {
    boundary: { type: "boolean", description: "at the end of the turn under way" },
    json: { type: "boolean", description: "print the answer as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
  async run({ boundary, json, _: words }, world) {
    const client = await connectDaemon(world);
    const session = await whichSession(client, words, world);
    const answer = await client.sessions.interrupt(session, { at: boundary === true ? "boundary" : "now" });
    if (json === true) world.out.write(jsonLine(answer));
    else if (answer.kind === "nothing-running") world.err.write(`nothing runs in ${session}\n`);
    else if (answer.kind === "parked")
      world.err.write(`nothing of it had begun; it is parked: \`corral queue resume ${session}\` lets it begin\n`);
    else world.err.write(boundary === true ? "it ends with its turn\n" : "it ends now\n");
    return 0;
  },
});
