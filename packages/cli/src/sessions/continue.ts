import { continueSurely } from "../inputs/admit.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { stateHint } from "./state-words.ts";
import { jsonLine } from "../terminal/output.ts";
import { whichSession } from "./which-session.ts";

export const run: Run<typeof declared.continueCommand> = async ({ json, _: words }, world) => {
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
};
