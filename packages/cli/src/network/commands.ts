import { type Command, command, declare } from "../command.ts";

export const network = declare({
  name: "network",
  group: "work",
  usage: "network [--session ID] [--json] | network allow HOST… | network deny HOST…",
  summary: "Show which hosts agents have reached or were refused, or let them reach one",
  details: `Shows which hosts agents have reached or were refused, or changes which they may reach. A session or shell whose network is \`allow\` reaches the hosts on the list and no others: example.org, *.example.org for all
names below it, example.org:8443 for another port than those of HTTP and HTTPS. What leads to this machine or a private
network is never reached. A change counts for the next request. Your own list and the project's add up.`,
  examples: [
    ["corral network", "what was reached, and what was refused"],
    ["corral network allow packages.acme.test", "for all of your projects"],
    ["corral network allow '*.example.org' --project", "for this repository, in .corral/config.json"],
    ["corral network deny packages.acme.test", "takes it off the list"],
  ],
  example: "corral network allow example.org",
  args: {
    session: { type: "string", valueHint: "ID", description: "only of this session" },
    project: { type: "boolean", description: "with allow and deny: for this repository" },
    local: { type: "boolean", description: "with allow and deny: for this repository, for you alone" },
    json: { type: "boolean", description: "print each as a line of JSON" },
  },
  words: "any",
  choices: ["allow", "deny"],
});

export const commands: readonly Command[] = [command(network, () => import("./network.ts"))];
