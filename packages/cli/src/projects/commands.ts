import { type Command, command, declare } from "../command.ts";

export const projects = declare({
  name: "projects",
  group: "settings",
  usage: "projects [--json] | projects forget ID [--json]",
  summary: "List the repositories that Corral knows, or forget one",
  details: `Lists the repositories that Corral knows, or forgets one. \`corral\` in a repository makes it known. One that is moved stays the same project; a copy is another.
Forgetting takes a project off the list and withdraws what you trusted of its settings. Its sessions stay, and
\`corral\` in it brings it back.`,
  examples: [
    ["corral projects", "list them with their ids"],
    ["corral projects forget prj_01k…", "take one off the list"],
  ],
  args: {
    json: { type: "boolean", description: "print each as a line of JSON" },
    words: { type: "positional", required: false },
  },
  words: "any",
  choices: ["forget"],
});

export const trust = declare({
  name: "trust",
  group: "settings",
  usage: "trust [--yes] [--json]",
  summary: "Look at the settings that this folder brings, and let them count",
  details: `Shows the settings that this folder brings along, and asks whether they may count. Settings in .corral/ count only while you trust exactly what they say. When they change, by a pull
or by any program, they count no more until you have looked at them again.`,
  examples: [
    ["corral trust", "look at the settings of this folder and decide"],
    ["corral trust --yes", "for a script, whose author has looked"],
  ],
  args: {
    yes: { type: "boolean", description: "trust them as they are, without a question" },
    json: { type: "boolean", description: "print what there is and how it stands as a line of JSON; asks nothing" },
  },
  words: "none",
});

export const commands: readonly Command[] = [
  command(projects, () => import("./projects.ts")),
  command(trust, () => import("./trust.ts")),
];
