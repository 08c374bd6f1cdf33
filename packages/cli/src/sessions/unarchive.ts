import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine } from "../terminal/output.ts";
import { firstNamed } from "./which-session.ts";

export const run: Run<typeof declared.unarchive> = async ({ json, _: [name] }, world) => {
  const client = await connectDaemon(world);
  const session = await firstNamed(client, name, world, "`corral sessions --all` lists archived ones too");
  const answer = await client.sessions.unarchive(session);
  if (json === true) world.out.write(jsonLine(answer));
  else if (answer.kind === "unchanged") world.err.write("it is not archived\n");
  return 0;
};
