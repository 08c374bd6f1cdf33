import { continueSurely } from "../inputs/admit.ts";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { stateHint } from "./state-words.ts";
import { jsonLine } from "../terminal/output.ts";
import { sessionWords, whichSession } from "./which-session.ts";

export const continueCommand = defineCommand({
  name: "continue",
  usage: "continue [SESSION] [--json]",
  summary: "Has a session go on: the model is asked at least once, also when nothing new was said.",
  details: `${sessionWords} Without SESSION it is that one, too. It goes on after a failure, after an interrupt, after its limit of turns (then it may
take as many again, the setting turnLimit), and when it is done. One that is at work goes on anyway. One that waits for your answer or
decision says so. \`corral resume\` is the same.

Exit code: 0 it goes on, 1 failed, 2 usage, 3 it waits for you.`,
  examples: [["corral continue @last", "go on"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
  async run({ json, _: words }, world) {
    const client = await connectDaemon(world);
    const session = await whichSession(client, words, world);
    const answer = await continueSurely(client, session, world);
    if (json === true) world.out.write(jsonLine(answer));
    if (answer.kind !== "waits") {
      const how = answer.kind === "joined" ? "it is at work already" : "it goes on";
      if (json !== true) world.err.write(`${how}; watch it with \`corral attach ${session}\`\n`);
      return 0;
    }
    const { state } = await client.sessions.get(session);
    world.err.write(`${session} waits for you\n`);
    const hint = stateHint(state, session);
    if (hint !== "") world.err.write(`hint: ${hint}\n`);
    return 3;
  },
});
