import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine } from "../terminal/output.ts";
import { whichSession } from "./which-session.ts";

export const run: Run<typeof declared.interrupt> = async ({ boundary, json, _: words }, world) => {
  const client = await connectDaemon(world);
  const session = await whichSession(client, words, world);
  const answer = await client.sessions.interrupt(session, { at: boundary === true ? "boundary" : "now" });
  if (json === true) world.out.write(jsonLine(answer));
  else if (answer.kind === "nothing-running") world.err.write(`${session} is not at work\n`);
  else if (answer.kind === "parked")
    world.err.write(`it had not started yet and is parked: \`corral queue resume ${session}\` starts it\n`);
  else world.err.write(boundary === true ? "it stops after this turn\n" : "it stops now\n");
  return 0;
};
