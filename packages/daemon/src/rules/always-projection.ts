import {
  type AlwaysFor,
  CorralError,
  event,
  type KeptRule,
  type ProjectId,
  type Rule,
  type RuleId,
  ruleIdOf,
  type RuleMatch,
  type SessionId,
} from "@corral/protocol";
import type { By, Log, Projection, Row } from "../log/index.ts";

/** What people said "always" to, by whom it is for: a session, an agent of a project, a project. */
const kept: Projection = {
  table: "rules_kept",
  version: 2,
  columns: {
    holder: "text",
    scope: "text",
    holder_name: "text",
    stream: "text",
    match: "text",
    by: "text",
    at: "text",
    seq: "integer",
  },
  indexes: [["holder", "seq"], ["seq"]],
  changes: ({ stream, seq, actor, approximateCreationTime: at, ...stored }) => {
    if (stored.type === "rule.forgotten") return [{ key: stored.data.id, delete: true }];
    if (stored.type !== "rule.kept") return [];
    const { for: scope, of, match } = stored.data;
    const holder = scope === "agent" ? agentIn(stream, of) : `${scope} ${of}`;
    const whose = { holder, scope, holder_name: of, stream };
    return [{ key: ruleIdOf(seq), set: { ...whose, match: JSON.stringify(match), by: actor, at, seq } }];
  },
};

export const ruleProjections: readonly Projection[] = [kept];

/** Agents of the same name in two projects are two. */
function agentIn(project: string, name: string): string {
  return `agent ${project} ${name}`;
}

interface Holders {
  readonly session?: SessionId | undefined;
  readonly agent?: string | undefined;
  readonly project?: ProjectId | undefined;
}

/** The rules that "always" made, the oldest first. */
export async function alwaysRules(log: Log, { session, agent, project }: Holders): Promise<readonly Rule[]> {
  const holders = [
    ...(session === undefined ? [] : [`session ${session}`]),
    ...(agent === undefined || project === undefined ? [] : [agentIn(project, agent)]),
    ...(project === undefined ? [] : [`project ${project}`]),
  ];
  const found = await Promise.all(
    holders.map((holder) => log.rows("rules_kept", { where: { holder }, orderBy: "seq" })),
  );
  return found.flat().map(({ scope, match, seq }): Rule => ({
    verdict: "allow",
    match: JSON.parse(match as string) as RuleMatch,
    origin: { kind: "always", for: scope as AlwaysFor, seq: seq as number },
  }));
}

export async function keptRules(log: Log): Promise<readonly KeptRule[]> {
  return (await log.rows("rules_kept", { orderBy: "seq" })).map(keptRule);
}

/** Of those who take it back at once, one does. */
export async function forgetRule(log: Log, id: RuleId, by: By): Promise<KeptRule | undefined> {
  const row = await log.row("rules_kept", id);
  if (row === undefined) return undefined;
  try {
    const isThere = { table: "rules_kept", key: id, is: {} };
    const stream = row["stream"] as string;
    await log.append({ stream, ...by, events: [event("rule.forgotten", { id })], guards: [isThere] });
    return keptRule(row);
  } catch (error) {
    if (error instanceof CorralError && error.code === "append.conflict") return undefined;
    throw error;
  }
}

function keptRule(row: Row): KeptRule {
  const stream = row["stream"] as string;
  return {
    id: row["key"] as RuleId,
    for: row["scope"] as AlwaysFor,
    of: row["holder_name"] as string,
    ...(stream.startsWith("prj_") ? { projectId: stream as ProjectId } : {}),
    match: JSON.parse(row["match"] as string) as RuleMatch,
    by: row["by"] as string,
    at: row["at"] as string,
  };
}
