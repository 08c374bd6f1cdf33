import { type Command, command, declare } from "../command.ts";

export const config = declare({
  name: "config",
  group: "settings",
  usage: "config [KEY] | config set KEY VALUE | config unset KEY | config --schema | config --upgrade",
  summary: "Show every setting with where it is from, or change one",
  details: `Shows every setting with where it is from, or changes one. Settings come from the user's file, then the project's .corral/config.json, then its
.corral/config.local.json (yours alone, kept out of git); the later one wins, and variables win over all.
A project's files count once you trust them: \`corral trust\`.`,
  examples: [
    ["corral config", "every setting with where it is from"],
    ["corral config set logs.level debug", "change one in your own file; it counts at once"],
    ["corral config set turnLimit 40 --project", "change one for this repository"],
  ],
  example: "corral config set logs.level debug",
  args: {
    json: { type: "boolean", description: "print JSON" },
    project: { type: "boolean", description: "with set and unset: in .corral/config.json of this repository" },
    local: { type: "boolean", description: "with set and unset: in .corral/config.local.json of this repository" },
    schema: { type: "boolean", description: "print the JSON schema of these files" },
    upgrade: { type: "boolean", description: "rewrite files of older versions in today's" },
    words: { type: "positional", required: false },
  },
  words: "any",
  choices: async () => ["set", "unset", ...(await import("@corral/protocol")).settingKeys],
});

export const commands: readonly Command[] = [command(config, () => import("./config.ts"))];
