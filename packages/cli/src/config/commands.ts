import { type Command, command, declare } from "../command.ts";

export const config = declare({
  name: "config",
  group: "settings",
  summary: "Show every setting and where it comes from, or change one",
  example: "corral config set logs.level debug",
  usage: "config [KEY] | config set KEY VALUE | config unset KEY | config --schema | config --upgrade",
  details: `Settings come from your own file, then from the project's .corral/config.json, then from its .corral/config.local.json (yours
alone, not in git). Later ones win, and environment variables win over all.
A project's files count once you trust them: \`corral trust\`.`,
  examples: [
    ["corral config", "show every setting and where it comes from"],
    ["corral config set logs.level debug", "change a setting in your own file; it counts at once"],
    ["corral config set turnLimit 40 --project", "change a setting for this repository"],
  ],
  args: {
    json: { type: "boolean", description: "print JSON" },
    project: { type: "boolean", description: "with set and unset: in .corral/config.json of this repository" },
    local: { type: "boolean", description: "with set and unset: in .corral/config.local.json of this repository" },
    schema: { type: "boolean", description: "print the JSON schema of these files" },
    upgrade: { type: "boolean", description: "rewrite files of older versions in the current format" },
    words: { type: "positional", required: false },
  },
  words: "any",
  choices: async () => ["set", "unset", ...(await import("@corral/protocol")).settingKeys],
});

export const commands: readonly Command[] = [command(config, () => import("./config.ts"))];
