import { CorralError, type SessionId } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { By, Log } from "../log/index.ts";
import {
  type Handlers,
  knownSession,
  principalOf,
  requireMayDrive,
  requireOperator,
  type Sight,
} from "../routing/index.ts";
import type { Sessions } from "./sessions.ts";

interface Needs {
  readonly sessions: Sessions;
  readonly removal: { erase(id: SessionId, by: By): Promise<void> };
  readonly sight: Sight;
  readonly log: Pick<Log, "head">;
}

export function sessionRoutes({ sessions, removal, sight, log }: Needs): Handlers<RoutesOf<"sessions">> {
  return {
    "sessions.create"(request) {
      requireOperator(principalOf(request), request.body.environment.kind);
      return sessions.create(request.body, request.by, request.newId("session"));
    },

    "sessions.begin"(request) {
      requireOperator(principalOf(request), request.body.environment.kind);
      return sessions.begin(request.body, request.by, request.newId("session"));
    },

    "sessions.list": async ({ query }) => ({
      sessions: (await sessions.list()).filter(({ isArchived }) => query.archived === "1" || !isArchived),
    }),

    async "sessions.search"(request) {
      const who = principalOf(request);
      const { words, limit } = request.query;
      const sees = (id: SessionId) => sight.session(who, id);
      const found = await sessions.search({ words, limit, session: who.session, sees });
      return { found: [...found], seq: await log.head() };
    },

    "sessions.get": (request) => knownSession(sessions, request.params.id),

    async "sessions.delete"(request) {
      await removal.erase(request.params.id, request.by);
      return { kind: "deleted" };
    },

    async "sessions.interrupt"(request, reply) {
      const outcome = await sessions.interrupt(request.params.id, request.by, request.body.at);
      void reply.code(outcome.kind === "requested" ? 202 : 200);
      return outcome;
    },

    async "sessions.recover"(request) {
      const { kind } = await sessions.decide(request.params.id, request.body, request.by);
      if (kind === "nothing-to-decide") throw nothingToDecide();
      return { kind };
    },

    async "sessions.continue"(request) {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      return sessions.continue(request.params.id, request.by, request.body.id ?? request.newId("continue"));
    },

    "sessions.rename": (request) => sessions.rename(request.params.id, request.body.title, request.by),
    "sessions.archive": (request) => sessions.archive(request.params.id, request.by),
    "sessions.unarchive": (request) => sessions.unarchive(request.params.id, request.by),
  };
}

function nothingToDecide(): CorralError {
  return new CorralError("recovery.nothing", "This call does not wait for a decision", {
    hint: "It may have been decided already; the session's events tell",
  });
}
