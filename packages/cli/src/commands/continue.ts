import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { stateHint } from "../state-words.ts";
import { jsonLine } from "../terminal.ts";
import { sessionWords, whichSession } from "../which-session.ts";

export const continueCommand = defineCommand({
  name: "continue",
  usage: "continue [SESSION] [--json]",
  summary: "Lets a session go on that stopped after its limit of turns.",
  details: `${sessionWords} Without SESSION it is that one, too. It may take as many turns again (the setting turnLimit). Saying something to it
does the same.`,
  examples: [["corral continue @last", "go on"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
  async run({ json, _: words }, world) {
    const client = await connectDaemon(world);
    const session = await whichSession(client, words, world);
    const answer = await client.sessions.continue(session);
    if (json === true) world.out.write(jsonLine(answer));
    if (answer.kind === "continued") {
      if (json !== true) world.err.write(`it goes on; watch it with \`corral attach ${session}\`\n`);
      return 0;
    }
    const { state } = await client.sessions.get(session);
    world.err.write(`${session} is ${state.state} and waits for no such word\n`);
    const hint = stateHint(state, session);
    if (hint !== "") world.err.write(`hint: ${hint}\n`);
    return 1;
  },
});
