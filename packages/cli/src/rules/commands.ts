import { type Command, command, declare } from "../command.ts";

export const rules = declare({
  name: "rules",
  group: "work",
  usage:
    "rules [--session ID] [--agent NAME] [--json] | rules check 'COMMAND' [--mode plan|ask|auto] [--env KIND] [--json] | rules list [--json] | rules forget RULE… [--json]",
  summary: "Show which rules hold, or explain what they say about a command",
  details: `Shows which rules hold and where they are from, explains what they say about a command, and takes an "always" back. Rules are yours in rules.json beside your settings, and a repository's in .corral/rules.json, which may only ask or deny:
{ "rules": [{ "deny": { "command": "rm *" }, "because": "use git" }, { "ask": { "path": "infra/**", "access": "write" } }] }
A rule names a tool, a command, a path or a host. Commands are taken apart; the strictest rule on any part wins, and what is
not plain is asked wherever something is asked or denied. A broken file has everything asked. What you allowed "always", to a session, to
an agent in this repository or to all of it, is listed with its id by list; forget takes it back, from the next call on.
Exit code of check: 0 allowed, 3 asked, 1 denied.`,
  examples: [
    ["corral rules", "what holds in this repository"],
    ["corral rules check 'git push && make'", "which part is asked or denied, and why"],
    ["corral rules check --path src/a.ts --access write --mode plan", "may a file be written?"],
    ["corral rules check --host example.org", "may a host be reached?"],
    ["corral rules list", 'what was allowed "always" here'],
    ["corral rules forget rul_412", "ask again"],
  ],
  example: "corral rules check 'git push'",
  args: {
    session: { type: "string", valueHint: "ID", description: "of this session, with what was always allowed in it" },
    agent: { type: "string", valueHint: "NAME", description: "with the rules for this agent" },
    mode: { type: "string", valueHint: "MODE", description: "with check: plan, ask or auto" },
    env: { type: "string", valueHint: "KIND", description: "with check: jail, container or local" },
    workspace: { type: "string", valueHint: "KIND", description: "with check: copy or in-place" },
    tool: { type: "string", valueHint: "NAME", description: "with check: the tool that is called" },
    path: { type: "string", valueHint: "PATH", description: "with check: a file in place of a command" },
    access: { type: "string", valueHint: "HOW", description: "with --path: read or write" },
    host: { type: "string", valueHint: "HOST", description: "with check: a host in place of a command" },
    project: { type: "string", valueHint: "FOLDER", description: "of this repository instead of the one here" },
    json: { type: "boolean", description: "print one line of JSON" },
  },
  words: "any",
  choices: ["check", "list", "forget"],
});

export const commands: readonly Command[] = [command(rules, () => import("./rules.ts"))];
