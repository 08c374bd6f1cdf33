import { CorralError, type KeptRule, type SessionId, type SessionView, usualAgent } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { Log } from "../log/port.ts";
import type { FindsSessions, Handlers } from "../routing/index.ts";
import type { Rules } from "./rules.ts";

interface Needs {
  readonly rules: Pick<Rules, "view" | "check" | "kept" | "forget">;
  readonly sessions: KnownSessions;
  readonly log: Pick<Log, "head">;
}

interface KnownSessions extends FindsSessions<SessionView> {
  list(): Promise<readonly SessionView[]>;
  terms(id: SessionId): Promise<{ readonly agent?: string | undefined } | undefined>;
}

export function ruleRoutes({ log, rules, sessions }: Needs): Handlers<RoutesOf<"rules">> {
  return {
    async "rules.view"({ query }) {
      const session = query.session === undefined ? undefined : await sessions.get(query.session);
      return rules.view({
        project: session?.projectId ?? query.project,
        session: query.session,
        agent: query.agent ?? session?.agent ?? usualAgent,
        mode: session?.mode ?? "auto",
        situation: {
          environment: session?.environment.kind ?? "jail",
          workspace: session?.workspace ?? "copy",
          folder: "/workspace",
        },
      });
    },

    async "rules.check"({ body }) {
      const session = body.session === undefined ? undefined : await sessions.terms(body.session);
      return rules.check({ ...body, agent: body.agent ?? session?.agent ?? usualAgent });
    },

    async "rules.kept"({ query: { project } }) {
      const seq = await log.head();
      const projects = new Map((await sessions.list()).map((session) => [session.id as string, session.projectId]));
      // What a session that is no more was allowed counts for nobody.
      const projectOf = ({ projectId: own, of }: KeptRule) => own ?? projects.get(of);
      const there = (await rules.kept()).filter((rule) => projectOf(rule) !== undefined);
      return { rules: there.filter((rule) => project === undefined || projectOf(rule) === project), seq };
    },

    async "rules.forget"({ params: { id }, by }) {
      const rule = await rules.forget(id, by);
      if (rule === undefined)
        throw new CorralError("not-found", `There is no rule ${id} that was kept.`, {
          hint: "`corral rules list` shows those that are",
        });
      return { kind: "forgotten", rule };
    },
  };
}
