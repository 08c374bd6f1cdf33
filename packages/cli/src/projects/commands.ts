import { type Command, command, declare } from "../command.ts";

export const projects = declare({
  name: "projects",
  group: "settings",
  summary: "List the repositories that Corral knows, or forget one",
  usage: "projects [--json] | projects forget ID [--json]",
  details: `Run \`corral\` in a repository to make it known. A repository that you move stays the same project; a copy is another one.
\`forget\` takes a project off the list and withdraws your trust in its settings. Its sessions stay. Run \`corral\` in the repository to
bring it back.`,
  examples: [
    ["corral projects", "list them with their ids"],
    ["corral projects forget prj_01k…", "take one off the list"],
  ],
  args: {
    json: { type: "boolean", description: "print each project as a line of JSON" },
    words: { type: "positional", required: false },
  },
  words: "any",
  choices: ["forget"],
});

export const trust = declare({
  name: "trust",
  group: "settings",
  summary: "Show this folder's settings and decide whether to trust them",
  usage: "trust [--yes] [--json]",
  details: `Settings in .corral/ count only if you trust their exact content. If they change, by a pull or by any program, they stop
counting until you look at them again.`,
  examples: [
    ["corral trust", "look at the settings of this folder and decide"],
    ["corral trust --yes", "in a script, if its author has looked at them"],
  ],
  args: {
    yes: { type: "boolean", description: "trust them as they are, without asking" },
    json: { type: "boolean", description: "print the settings and their state as a line of JSON; ask nothing" },
  },
  words: "none",
});

export const commands: readonly Command[] = [
  command(projects, () => import("./projects.ts")),
  command(trust, () => import("./trust.ts")),
];
