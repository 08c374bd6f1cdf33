import { type Command, command, declare } from "../command.ts";

export const network = declare({
  name: "network",
  group: "work",
  summary: "Show which hosts agents reached or were refused, or allow one",
  example: "corral network allow example.org",
  usage: "network [--session ID] [--json] | network allow HOST… | network deny HOST…",
  details: `A session or shell with the network \`allow\` reaches the hosts on the list and no others. HOST is a name (example.org), all names
below one (*.example.org), or a name with a port other than those of HTTP and HTTPS (example.org:8443). This machine and private networks can
never be reached. A change counts from the next request on. Your own list and the project's list add up.`,
  examples: [
    ["corral network", "show what was reached and what was refused"],
    ["corral network allow packages.acme.test", "allow it for all of your projects"],
    ["corral network allow '*.example.org' --project", "allow it for this repository, in .corral/config.json"],
    ["corral network deny packages.acme.test", "take it off the list"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: "only requests of this session" },
    project: { type: "boolean", description: "with allow and deny: for this repository" },
    local: { type: "boolean", description: "with allow and deny: for this repository, for you alone" },
    json: { type: "boolean", description: "print each host as a line of JSON" },
  },
  words: "any",
  choices: ["allow", "deny"],
});

export const commands: readonly Command[] = [command(network, () => import("./network.ts"))];
