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
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { rulesComplaints } from "../config/complaints.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { oneOf, UsageError } from "../flags.ts";
import { jsonLine, shown, shownInLine } from "../terminal/output.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.rules> = async (args, world) => {
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
};

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
    world.err.write(shown(`There are no rules yet. Yours go into ${view.files[0]?.file ?? "rules.json"}.\n`));
  world.err.write(rulesComplaints(view));
  return 0;
}

function listKept(kept: readonly KeptRule[], world: World, json: boolean): number {
  for (const rule of kept)
    world.out.write(
      json ? jsonLine(rule) : `${listed(shown(`${rule.id}  ${keptWords(rule)}, since ${rule.at}`), world.out)}\n`,
    );
  if (!json && kept.length === 0) world.err.write('Nothing is allowed "always" here yet.\n');
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
