import {
  access,
  agentName,
  type CheckRules,
  checkRules,
  environmentKind,
  type Judgement,
  type KeptRule,
  mode,
  type Rule,
  ruleId,
  ruleIdOf,
  type RulesView,
  sessionId,
} from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { rulesComplaints } from "../config/complaints.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { oneOf, UsageError } from "../flags.ts";
import { jsonLine, shown, shownInLine } from "../terminal/output.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const rules = defineCommand({
  name: "rules",
  usage:
    "rules [--session ID] [--agent NAME] [--json] | rules check 'COMMAND' [--mode plan|ask|auto] [--env KIND] [--json] | rules list [--json] | rules forget RULE… [--json]",
  summary:
    'Shows which rules hold and where they are from, explains what they say about a command, and takes an "always" back.',
  details: `Rules are yours in rules.json beside your settings, and a repository's in .corral/rules.json, which may only ask or deny:
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
  async run(args, world) {
    const [action, ...words] = args._;
    if (action === "forget") return forget(words, world, args.json === true);
    if (action !== undefined && action !== "check" && action !== "list")
      throw new UsageError(`unknown word ${JSON.stringify(action)}`, usage);
    if (action === "list" && words.length > 0) throw new UsageError(`unexpected word ${JSON.stringify(words[0])}`);
    const session = oneOf("session", args.session, sessionId, "the id of a session");
    const agent = oneOf("agent", args.agent, agentName, "the name of an agent");
    const given = circumstances(args);
    const { path, host, tool } = args;
    const command = words.join(" ").trim() === "" ? undefined : words.join(" ");
    if (action === "check" && [command, path, host, tool].every((each) => each === undefined))
      throw new UsageError("which command?", usage);
    const client = await connectDaemon(world);
    const project = (await client.projects.find(args.project ?? world.cwd))?.id;
    if (action === "list") return listKept(await client.rules.kept({ project }), world, args.json === true);
    const of = { project, session, agent };
    if (action === undefined) return list(await client.rules.view(of), world, args.json === true);
    const asked: CheckRules = { ...of, ...{ command, path, host, tool }, ...given };
    return explain(await client.rules.check(asked), world, args.json === true);
  },
});

const usage =
  "One of: corral rules, corral rules check 'COMMAND', corral rules check --path FILE, corral rules check --host HOST, corral rules list, corral rules forget RULE";

/** The flags that say where and how, checked before anybody is asked. */
function circumstances(flags: {
  readonly mode?: string | undefined;
  readonly env?: string | undefined;
  readonly workspace?: string | undefined;
  readonly access?: string | undefined;
}) {
  return {
    mode: oneOf("mode", flags.mode, mode, "plan, ask or auto"),
    environment: oneOf("env", flags.env, environmentKind, "jail, container or local"),
    workspace: oneOf("workspace", flags.workspace, checkRules.shape.workspace, "copy or in-place"),
    access: oneOf("access", flags.access, access, "read or write"),
  };
}

function list(view: RulesView, world: World, json: boolean): number {
  if (json) world.out.write(jsonLine(view));
  else
    for (const rule of view.rules)
      world.out.write(shown(`${rule.verdict.padEnd(5)}  ${subject(rule)}  (${origin(rule)})\n`));
  if (!json && view.rules.length === 0)
    world.err.write(shown(`No rules so far. Yours go into ${view.files[0]?.file ?? "rules.json"}.\n`));
  world.err.write(rulesComplaints(view));
  return 0;
}

function listKept(kept: readonly KeptRule[], world: World, json: boolean): number {
  for (const rule of kept)
    world.out.write(
      json ? jsonLine(rule) : `${listed(shown(`${rule.id}  ${keptWords(rule)}, since ${rule.at}`), world.out)}\n`,
    );
  if (!json && kept.length === 0) world.err.write('Nothing was allowed "always" here so far.\n');
  return 0;
}

/** Each by itself: of several the first that there is not is told, and those before it are forgotten. */
async function forget(words: readonly string[], world: World, json: boolean): Promise<number> {
  if (words.length === 0) throw new UsageError("which rule?", "`corral rules list` shows them with their ids");
  const ids = words.map((word) => {
    const parsed = ruleId.safeParse(word);
    if (!parsed.success)
      throw new UsageError(
        `${JSON.stringify(word)} is no id of a rule`,
        "`corral rules list` shows them with their ids",
      );
    return parsed.data;
  });
  const client = await connectDaemon(world);
  for (const id of ids) {
    const { rule } = await client.rules.forget(id);
    world.out.write(json ? jsonLine(rule) : shown(`asked again from now on: ${keptWords(rule)}\n`));
  }
  return 0;
}

function keptWords(rule: KeptRule): string {
  const whose = { session: `for session ${rule.of}`, agent: `for the agent ${rule.of}`, project: "for this project" };
  return `${subject(rule)}  (${whose[rule.for]}, by ${rule.by})`;
}

function explain(judged: Judgement, world: World, json: boolean): number {
  if (json) world.out.write(jsonLine(judged));
  else {
    world.out.write(`${shownInLine(`${judged.verdict}: ${judged.why}`)}\n`);
    const lines = judged.parts.map((part) => {
      const inside = part.via === undefined ? "" : ` (in ${part.via.join(" ")})`;
      const from =
        part.rule === undefined ? "" : `  [${part.rule.verdict} ${subject(part.rule)}, ${origin(part.rule)}]`;
      return shownInLine(`  ${part.verdict.padEnd(5)}  ${part.kind} ${part.text}${inside}: ${part.why}${from}`);
    });
    // Behind a cd the same words may be two places, and mean the same.
    for (const line of new Set(lines)) world.out.write(`${line}\n`);
    for (const match of judged.always ?? []) world.out.write(shown(`  "always" would allow: ${subject({ match })}\n`));
  }
  return exitCodes[judged.verdict];
}

const exitCodes = { allow: 0, deny: 1, ask: 3 } as const satisfies Record<Judgement["verdict"], number>;

function subject({ match: { tool, command, path, access, host } }: Pick<Rule, "match">): string {
  const what = [
    ...(tool === undefined ? [] : [`tool ${tool}`]),
    ...(command === undefined ? [] : [`command ${command}`]),
    ...(path === undefined ? [] : [`${access ?? "path"} ${path}`]),
    ...(host === undefined ? [] : [`host ${host}`]),
  ];
  return what.length === 0 ? "everything" : what.join(", ");
}

function origin({ origin: from }: Rule): string {
  return from.kind === "file" ? `${from.file}:${from.line}` : `always, for this ${from.for}: ${ruleIdOf(from.seq)}`;
}
