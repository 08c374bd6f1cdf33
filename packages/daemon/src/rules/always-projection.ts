import type { ProjectId, Rule, RuleMatch, SessionId } from "@corral/protocol";
import type { Log, Projection } from "../log/index.ts";

/** What people said "always" to, by whom it is for: a session, an agent, a project. */
const kept: Projection = {
  table: "rules_kept",
  version: 1,
  columns: { holder: "text", match: "text", seq: "integer" },
  indexes: [["holder", "seq"]],
  changes: ({ stream, seq, ...stored }) => {
    if (stored.type !== "rule.kept") return [];
    const { for: scope, of, match } = stored.data;
    return [{ key: `${stream} ${seq}`, set: { holder: `${scope} ${of}`, match: JSON.stringify(match), seq } }];
  },
};

export const ruleProjections: readonly Projection[] = [kept];

interface Holders {
  readonly session?: SessionId | undefined;
  readonly agent?: string | undefined;
  readonly project?: ProjectId | undefined;
}

/** The rules that "always" made, the oldest first. */
export async function alwaysRules(log: Log, holders: Holders): Promise<readonly Rule[]> {
  const scopes = (["session", "agent", "project"] as const).filter((scope) => holders[scope] !== undefined);
  const found = await Promise.all(
    scopes.map(async (scope) => {
      const rows = await log.rows("rules_kept", { where: { holder: `${scope} ${holders[scope]}` }, orderBy: "seq" });
      return rows.map(({ match, seq }): Rule => ({
        verdict: "allow",
        match: JSON.parse(match as string) as RuleMatch,
        origin: { kind: "always", for: scope, seq: seq as number },
      }));
    }),
  );
  return found.flat();
}
