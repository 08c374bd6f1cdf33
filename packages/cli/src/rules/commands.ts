import { type Command, command, declare } from "../command.ts";

export const rules = declare({
  name: "rules",
  group: "work",
  summary: 'Show the rules, check a command against them, or take back an "always"',
  example: "corral rules check 'git push'",
  usage:
    "rules [--session ID] [--agent NAME] [--json] | rules check 'COMMAND' [--mode plan|ask|auto] [--env KIND] [--json] | rules list [--json] | rules forget RULE… [--json]",
  details: `Your rules are in rules.json beside your settings. A repository's rules are in .corral/rules.json and may only ask or deny:
{ "rules": [{ "deny": { "command": "rm *" }, "because": "use git" }, { "ask": { "path": "infra/**", "access": "write" } }] }
A rule names a tool, a command, a path or a host. Corral splits a command into its parts, and the strictest rule for any part wins. If there
are rules that ask or deny, Corral also asks about commands that it cannot split. If a rules file is broken, it asks about everything. \`list\`
shows what you allowed "always", to a session, to an agent in this repository or to the whole repository, with ids. \`forget\` takes it back,
from the next call on.

Exit code of check: 0 allowed, 3 asked, 1 denied.`,
  examples: [
    ["corral rules", "show the rules of this repository"],
    ["corral rules check 'git push && make'", "show which part is asked or denied, and why"],
    ["corral rules check --path src/a.ts --access write --mode plan", "check whether a file may be written"],
    ["corral rules check --host example.org", "check whether a host may be reached"],
    ["corral rules list", 'list what you allowed "always" here'],
    ["corral rules forget rul_412", "ask about it again"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: 'the rules of this session, with its "always"' },
    agent: { type: "string", valueHint: "NAME", description: "include the rules for this agent" },
    mode: { type: "string", valueHint: "MODE", description: "with check: plan, ask or auto" },
    env: { type: "string", valueHint: "KIND", description: "with check: jail, container or local" },
    workspace: { type: "string", valueHint: "KIND", description: "with check: copy or in-place" },
    tool: { type: "string", valueHint: "NAME", description: "with check: the tool that is called" },
    path: { type: "string", valueHint: "PATH", description: "with check: check a file instead of a command" },
    access: { type: "string", valueHint: "HOW", description: "with --path: read or write" },
    host: { type: "string", valueHint: "HOST", description: "with check: check a host instead of a command" },
    project: { type: "string", valueHint: "FOLDER", description: "use the repository in this folder" },
    json: { type: "boolean", description: "print one line of JSON" },
  },
  words: "any",
  choices: ["check", "list", "forget"],
});

export const commands: readonly Command[] = [command(rules, () => import("./rules.ts"))];
