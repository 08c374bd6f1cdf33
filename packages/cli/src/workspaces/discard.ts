import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const run: Run<typeof declared.discard> = async ({ undo, json, _: words }, world) => {
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
};

function on(branch: string | undefined): string {
  return branch === undefined ? "" : ` (${branch})`;
}
