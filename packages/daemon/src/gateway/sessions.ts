import {
  archiveAnswer,
  beginSession,
  continueAnswer,
  continueSession,
  CorralError,
  createSession,
  deleteAnswer,
  decideRecovery,
  interruptAnswer,
  interruptSession,
  recoveryAnswer,
  renameAnswer,
  renameSession,
  searchAnswer,
  sessionBegun,
  sessionId,
  type SessionId,
  sessionList,
  sessionView,
  type SessionView,
} from "@corral/protocol";
import { z } from "zod";
import { missing } from "./bounds.ts";
import type { Routes } from "./routes.ts";
import { requireOperator } from "./shells.ts";
import { principalOf } from "./tokens.ts";
import type { Sessions } from "../sessions/index.ts";
import type { Principal } from "../tokens/index.ts";

export const sessionParams = z.object({ id: sessionId });

export const sessionRoutes: Routes = (app, { sessions, removal, sight, log }) => {
  const tags = ["sessions"];

  app.post(
    "/api/sessions",
    { schema: { tags, body: createSession, response: { 201: sessionView } } },
    async (request, reply) => {
      requireOperator(principalOf(request), request.body.environment.kind);
      return reply.code(201).send(await sessions.create(request.body, request.by, request.newId("session")));
    },
  );

  app.post(
    "/api/sessions/begin",
    {
      config: { repeatable: true },
      schema: {
        tags,
        description:
          "Makes a session and says the first thing to it, both or neither. With an input that was admitted before it answers with the " +
          "session that has it, so that sending this again is harmless, with or without an Idempotency-Key.",
        body: beginSession,
        response: { 201: sessionBegun },
      },
    },
    async (request, reply) => {
      requireOperator(principalOf(request), request.body.environment.kind);
      return reply.code(201).send(await sessions.begin(request.body, request.by, request.newId("session")));
    },
  );

  app.get(
    "/api/sessions",
    {
      schema: {
        tags,
        description: "Without `archived` those that are archived are left out.",
        querystring: z.object({ archived: z.enum(["0", "1"]).default("0") }),
        response: { 200: sessionList },
      },
    },
    async ({ query }) => ({
      sessions: (await sessions.list()).filter(({ isArchived }) => query.archived === "1" || !isArchived),
    }),
  );

  app.get(
    "/api/sessions/search",
    {
      schema: {
        tags,
        description:
          "Sessions, archived ones too, in which all the words were said in one place, by a person, by the agent or in " +
          "their title. The best first. The last word may be begun only.",
        querystring: z.object({
          words: z.string().min(1).max(500),
          limit: z.coerce.number().int().min(1).max(100).default(20),
        }),
        response: { 200: searchAnswer },
      },
    },
    async (request) => {
      const who = principalOf(request);
      const { words, limit } = request.query;
      const sees = (id: SessionId) => sight.session(who, id);
      const found = await sessions.search({ words, limit, session: who.session, sees });
      return { found: [...found], seq: await log.head() };
    },
  );

  app.get("/api/sessions/:id", { schema: { tags, params: sessionParams, response: { 200: sessionView } } }, (request) =>
    knownSession(sessions, request.params.id),
  );

  app.delete(
    "/api/sessions/:id",
    {
      schema: {
        tags,
        description:
          "Takes the session away for good: all it said and did becomes unreadable, its environment and workspace go. " +
          "Refused while it is in the middle of an activity.",
        params: sessionParams,
        response: { 200: deleteAnswer },
      },
    },
    async (request) => {
      await removal.erase(request.params.id, request.by);
      return { kind: "deleted" as const };
    },
  );

  app.post(
    "/api/sessions/:id/interrupt",
    {
      schema: {
        tags,
        description: "Ends the activity, now or at the end of its turn, and parks the queue.",
        params: sessionParams,
        body: interruptSession,
        response: { 200: interruptAnswer, 202: interruptAnswer },
      },
    },
    async (request, reply) => {
      const outcome = await sessions.interrupt(request.params.id, request.by, request.body.at);
      return reply.code(outcome.kind === "requested" ? 202 : 200).send(outcome);
    },
  );

  app.post(
    "/api/sessions/:id/recovery",
    { schema: { tags, params: sessionParams, body: decideRecovery, response: { 200: recoveryAnswer } } },
    async (request) => {
      const { kind } = await sessions.decide(request.params.id, request.body, request.by);
      if (kind === "nothing-to-decide") throw nothingToDecide();
      return { kind };
    },
  );

  app.post(
    "/api/sessions/:id/continue",
    {
      schema: {
        tags,
        description:
          "Has the session go on: the model is asked at least once, also when nothing new was said, after a failure or an interrupt. One that waits " +
          "after its limit of turns may take as many again; one that is at work is joined; one that waits for an answer or a decision says so. " +
          "With an id it counts once.",
        params: sessionParams,
        body: continueSession,
        response: { 200: continueAnswer },
      },
    },
    async (request) => {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      return sessions.continue(request.params.id, request.by, request.body.id ?? request.newId("continue"));
    },
  );

  app.post(
    "/api/sessions/:id/rename",
    { schema: { tags, params: sessionParams, body: renameSession, response: { 200: renameAnswer } } },
    (request) => sessions.rename(request.params.id, request.body.title, request.by),
  );

  app.post(
    "/api/sessions/:id/archive",
    {
      schema: {
        tags,
        description:
          "Takes the session off the list. Nothing of it runs until it is unarchived, or something is said to it. Refused " +
          "while it is in the middle of an activity.",
        params: sessionParams,
        body: z.object({}),
        response: { 200: archiveAnswer },
      },
    },
    (request) => sessions.archive(request.params.id, request.by),
  );

  app.post(
    "/api/sessions/:id/unarchive",
    { schema: { tags, params: sessionParams, body: z.object({}), response: { 200: archiveAnswer } } },
    (request) => sessions.unarchive(request.params.id, request.by),
  );
};

/** What makes a session without walls do something is for admins. */
export async function requireMayDrive(sessions: Sessions, id: SessionId, who: Principal): Promise<void> {
  const made = await sessions.terms(id);
  if (made === undefined) throw missing("session", id);
  requireOperator(who, made.environment.kind);
}

/** Throws `not-found`. */
export async function knownSession(sessions: Sessions, id: SessionId): Promise<SessionView> {
  const view = await sessions.get(id);
  if (view === undefined) throw missing("session", id);
  return view;
}

function nothingToDecide(): CorralError {
  return new CorralError("recovery.nothing", "This call does not wait for a decision", {
    hint: "It may have been decided already; the session's events tell",
  });
}
