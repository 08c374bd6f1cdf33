import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine } from "../terminal/output.ts";
import { firstNamed } from "./which-session.ts";

/** What the daemon takes. */
const longest = 200;
const how = 'Try `corral rename @last "a better title"`';

export const run: Run<typeof declared.rename> = async ({ json, _: [name, ...words] }, world) => {
  const title = words.join(" ").trim();
  if (name !== undefined && title === "") throw new UsageError("which title?", how);
  if (title.length > longest)
    throw new UsageError(`the title has ${title.length} characters; the limit is ${longest}`, how);
  const client = await connectDaemon(world);
  const answer = await client.sessions.rename(await firstNamed(client, name, world, how), { title });
  if (json === true) world.out.write(jsonLine(answer));
  return 0;
};
