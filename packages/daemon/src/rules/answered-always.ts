import { alwaysFor, type AlwaysFor, type AnswerGiven, type QuestionId, type RuleMatch } from "@corral/protocol";
import { type By, isGap, type Log } from "../log/index.ts";

export interface AnsweredAlways {
  readonly question: QuestionId;
  readonly answer: AnswerGiven;
  readonly by: By;
  /** What was kept since, for the same. */
  readonly kept: readonly RuleMatch[];
}

/** Of a daemon that died, the last that it did is among so many events. */
const lastMoments = 1000;

/**
 * Answers of "always" from the last moments. A rule is kept once its answer is durable, and a crash may have come in between; whoever
 * answered was told that it counts.
 */
export async function answeredAlways(log: Pick<Log, "head" | "read">): Promise<readonly AnsweredAlways[]> {
  const answered: (AnsweredAlways & { readonly scope: AlwaysFor; readonly kept: RuleMatch[] })[] = [];
  let after = Math.max(0, (await log.head()) - lastMoments);
  for (;;) {
    const page = await log.read({ after });
    if (isGap(page)) {
      after = page.to;
      continue;
    }
    for (const stored of page) {
      if (stored.type === "question.answered") {
        const { id: question, answer } = stored.data;
        const scope = alwaysFor.safeParse(answer.choice);
        const by = { actor: stored.actor, ...(stored.traceId === undefined ? {} : { traceId: stored.traceId }) };
        if (scope.success) answered.push({ question, answer, by, scope: scope.data, kept: [] });
      } else if (stored.type === "rule.kept")
        for (const each of answered) if (each.scope === stored.data.for) each.kept.push(stored.data.match);
    }
    const last = page.at(-1);
    if (last === undefined) return answered;
    after = last.seq;
  }
}
