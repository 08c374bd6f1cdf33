import { isDeepStrictEqual } from "node:util";
import {
  alwaysFor,
  type AnswerGiven,
  CorralError,
  type QuestionView,
  type Rulebook,
  type RuleMatch,
  type SessionId,
  type SessionView,
  type ShellId,
  usualAgent,
} from "@corral/protocol";
import type { Provisions } from "../capabilities/port.ts";
import type { Config } from "../config/index.ts";
import { workspaceIn } from "../environments/index.ts";
import type { By, Log } from "../log/index.ts";
import { hostQuestion, type Questions } from "../questions/index.ts";
import { answeredAlways, type Call, judge, type RulebookOf, type Rules } from "../rules/index.ts";
import type { Sessions } from "../sessions/index.ts";
import type { Shells } from "../shells/index.ts";
import { workspaceFolder } from "../workspaces/index.ts";

/** What a session may do and reach, by its mode and place, the rules, the settings, and what people answered. */
export interface Permits {
  /** Runners judge the calls that follow by themselves, until something changes. */
  readonly provides: Pick<Provisions, "rules.judge">;
  /** Hosts that the settings list, and what the place was given besides. */
  hostsFor(place: SessionId | ShellId): Promise<readonly string[]>;
  /** A host that is listed: what a rule asks or denies is stricter. Rules that cannot be read hold everything. */
  isHeld(place: SessionId | ShellId, target: Target): Promise<boolean>;
  /** A host on no list: the rules say, or the operator is asked while the connection waits. */
  mayReach(place: SessionId | ShellId, target: Target, signal: AbortSignal): Promise<boolean>;
  /** What was said "always" to counts from the next call on. */
  keepAlways(asked: QuestionView, answer: AnswerGiven, by: By): Promise<void>;
  /** A crash may have come between an answer and what it has kept. */
  keepWhatWasAnswered(): Promise<void>;
}

export interface PermitParts {
  readonly log: Log;
  readonly home: string;
  readonly config: Config;
  readonly rules: Rules;
  readonly sessions: Pick<Sessions, "get" | "terms">;
  readonly shells: Pick<Shells, "get">;
  readonly questions: Pick<Questions, "ask" | "get">;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

export function openPermits({ log, home, config, rules, sessions, shells, questions }: PermitParts): Permits {
  return {
    provides: {
      async "rules.judge"(session, call) {
        const of = await placeOfRules(session);
        const standing = await rules.standing(of);
        if (standing === undefined) return { judgement: judge(call, await rules.rulebook(of)) };
        return { judgement: judge(call, standing.rulebook), standing };
      },
    },

    async hostsFor(place) {
      const view = isSession(place) ? await sessions.get(place) : await shells.get(place);
      if (view === undefined) return [];
      const values = view.projectId === undefined ? config.values : await config.valuesFor(view.projectId);
      return [...values["network.allow"], ...(view.environment.allow ?? [])];
    },

    async isHeld(place, target) {
      if (!isSession(place)) return false;
      try {
        const book = await rulebookOf(place);
        const { parts } = judge(contact(target), book);
        return book.problems.length > 0 || parts.some(({ rule }) => rule !== undefined && rule.verdict !== "allow");
      } catch {
        return true;
      }
    },

    async mayReach(place, target, signal) {
      if (!isSession(place)) return false;
      const view = await sessions.get(place);
      const values = view === undefined ? config.values : await config.valuesFor(view.projectId);
      const { verdict, always } = judge(contact(target), await rulebookOf(place));
      const seconds = values["network.askSeconds"];
      if (verdict !== "ask" || seconds === 0) return verdict === "allow";
      const agent = view?.agent ?? usualAgent;
      const { state, ...end } = await questions.ask(
        place,
        hostQuestion({ agent, named: named(target), ...target, always, seconds }),
        signal,
      );
      return state === "answered" && "answer" in end && end.answer.choice !== "deny";
    },

    keepAlways: (asked, answer, by) => keepAlways(asked, answer, by, []),

    async keepWhatWasAnswered() {
      for (const { question, answer, by, kept } of await answeredAlways(log)) {
        const asked = await questions.get(question);
        if (asked !== undefined) await keepAlways(asked, answer, by, kept);
      }
    },
  };

  async function keepAlways(
    { about, session, projectId }: QuestionView,
    { choice }: AnswerGiven,
    by: By,
    kept: readonly RuleMatch[],
  ): Promise<void> {
    const scope = alwaysFor.safeParse(choice);
    if (!("always" in about) || !scope.success || projectId === undefined) return;
    const agent = (await sessions.terms(session))?.agent;
    const missing = (about.always ?? []).filter((match) => !kept.some((each) => isDeepStrictEqual(each, match)));
    for (const match of missing)
      await rules.keepAlways({ for: scope.data, session, agent, project: projectId, match }, by);
  }

  async function rulebookOf(session: SessionId): Promise<Rulebook> {
    return rules.rulebook(await placeOfRules(session));
  }

  async function placeOfRules(session: SessionId): Promise<RulebookOf> {
    const terms = await sessions.terms(session);
    if (terms === undefined) throw new CorralError("not-found", `There is no session ${session}.`);
    const { projectId, agent, mode, environment, workspace } = terms;
    const { kind } = environment;
    // As the agent's own words name it.
    const folder = workspaceIn({ kind, workspace: kind === "local" ? await folderOf(terms) : "" });
    const situation = { environment: kind, workspace, folder };
    return { project: projectId, session, agent, mode, situation };
  }

  /** Where the session works, or will. */
  async function folderOf({ id, projectId, workspace }: Worksite): Promise<string> {
    const row = await log.row("workspaces", id);
    const prepared = row?.["prepared"] as string | null | undefined;
    if (prepared !== null && prepared !== undefined) return (JSON.parse(prepared) as { path: string }).path;
    if (workspace === "copy") return workspaceFolder(home, id);
    return (row?.["worktree"] ?? (await log.row("projects", projectId))?.["path"]) as string;
  }
}

type Worksite = Pick<SessionView, "id" | "projectId" | "workspace">;

/** A connection, as rules judge it. */
function contact(target: Target): Call {
  return { tool: "network", effect: "writes", hosts: [named(target)] };
}

function named({ host, port }: Target): string {
  return port === 80 || port === 443 ? host : `${host}:${port}`;
}

function isSession(place: SessionId | ShellId): place is SessionId {
  return place.startsWith("ses_");
}
