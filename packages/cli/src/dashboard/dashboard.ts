import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine } from "../terminal/output.ts";

export const dashboard = defineCommand({
  name: "dashboard",
  usage: "dashboard [--json]",
  summary: "Prints a link that opens the dashboard in a browser.",
  details: `The link lets one browser in, once, within a minute. Who has it is you: pass it to nobody.`,
  examples: [
    ["corral dashboard", "print a link and open it in a browser"],
    ["corral dashboard --json", "the link for a program, in one line"],
  ],
  args: { json: { type: "boolean", description: "print a line of JSON with the url" } },
  words: "none",
  async run({ json }, world) {
    const { out, err } = world;
    const client = await connectDaemon(world);
    const { code, expiresInSeconds } = await client.login.issue();
    const url = `${client.endpoint.url}/#code=${code}`;
    out.write(json === true ? jsonLine({ url }) : `${url}\n`);
    if (json !== true) err.write(`Open it within ${expiresInSeconds} seconds; it works once.\n`);
    return 0;
  },
});
