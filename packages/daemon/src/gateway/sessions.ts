import {
  admission,
  admitInput,
  CorralError,
  createSession,
  deleteAnswer,
  decideRecovery,
  interruptAnswer,
  recoveryAnswer,
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

export const sessionParams = z.object({ id: sessionId });

export const sessionRoutes: Routes = (app, { sessions, removal }) => {
  const tags = ["sessions"];

  app.post(
    "/api/sessions",
    { schema: { tags, body: createSession, response: { 201: sessionView } } },
    async (request, reply) => {
      requireOperator(principalOf(request), request.body.environment.kind);
      return reply.code(201).send(await sessions.create(request.body, request.by, request.newId("session")));
    },
  );

  app.get("/api/sessions", { schema: { tags, response: { 200: sessionList } } }, async () => ({
    sessions: [...(await sessions.list())],
  }));

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
    "/api/sessions/:id/inputs",
    {
      config: { repeatable: true },
      schema: { tags, params: sessionParams, body: admitInput, response: { 200: admission, 202: admission } },
    },
    async (request, reply) => {
      const { environment } = await knownSession(sessions, request.params.id);
      requireOperator(principalOf(request), environment.kind);
      const outcome = await sessions.admit(request.params.id, request.body, request.by);
      if (outcome.kind === "conflict") throw new CorralError("input.conflict", outcome.reason);
      const { kind, input, seq } = outcome;
      return reply.code(kind === "admitted" ? 202 : 200).send({ kind, input, seq });
    },
  );

  app.post(
    "/api/sessions/:id/interrupt",
    {
      schema: {
        tags,
        params: sessionParams,
        body: z.object({}),
        response: { 200: interruptAnswer, 202: interruptAnswer },
      },
    },
    async (request, reply) => {
      const outcome = await sessions.interrupt(request.params.id, request.by);
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
};

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
