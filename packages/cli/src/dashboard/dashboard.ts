import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine } from "../terminal/output.ts";

export const run: Run<typeof declared.dashboard> = async ({ json }, world) => {
  const { out, err } = world;
  const client = await connectDaemon(world);
  const { code, expiresInSeconds } = await client.login.issue();
  const url = `${client.endpoint.url}/#code=${code}`;
  out.write(json === true ? jsonLine({ url }) : `${url}\n`);
  if (json !== true) err.write(`Open it within ${expiresInSeconds} seconds. It works once.\n`);
  return 0;
};
