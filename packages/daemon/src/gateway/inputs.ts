import {
  admission,
  admitInput,
  attachFile,
  attachment,
  changeInput,
  CorralError,
  decideQueue,
  inboxView,
  inputChanged,
  inputId,
  queueAnswer,
} from "@corral/protocol";
import { attach } from "../artifacts/index.ts";
import type { Routes } from "./routes.ts";
import { requireMayDrive, sessionParams } from "./sessions.ts";
import { principalOf } from "./tokens.ts";

/** Of an image as base64, with some more for what is around it. */
const attachmentLimit = 6_100_000;

const inputParams = sessionParams.extend({ input: inputId });

/** What is said to sessions, until they take it up. */
export const inputRoutes: Routes = (app, { sessions, artifacts, secrets }) => {
  const tags = ["inputs"];

  app.post(
    "/api/sessions/:id/attachments",
    {
      bodyLimit: attachmentLimit,
      schema: {
        tags,
        description:
          "Keeps a file for an input that comes after it, which names it by what this answers with: an image, which the model is " +
          "shown, or a text, which it is told. It is one of the session's artifacts.",
        params: sessionParams,
        body: attachFile,
        response: { 200: attachment },
      },
    },
    async (request) => {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      return attach({ artifacts, secrets }, request.params.id, request.body, request.by.traceId);
    },
  );

  app.post(
    "/api/sessions/:id/inputs",
    {
      config: { repeatable: true },
      schema: { tags, params: sessionParams, body: admitInput, response: { 200: admission, 202: admission } },
    },
    async (request, reply) => {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      const outcome = await sessions.admit(request.params.id, request.body, request.by);
      if (outcome.kind === "conflict") throw new CorralError("input.conflict", outcome.reason);
      const { kind, input, seq } = outcome;
      return reply.code(kind === "admitted" ? 202 : 200).send({ kind, input, seq });
    },
  );

  app.get(
    "/api/sessions/:id/inputs",
    {
      schema: {
        tags,
        description: "What waits to be taken up, in the order in which that will happen.",
        params: sessionParams,
        response: { 200: inboxView },
      },
    },
    (request) => sessions.inbox(request.params.id),
  );

  app.post(
    "/api/sessions/:id/inputs/:input",
    {
      config: { repeatable: true },
      schema: {
        tags,
        description:
          "Cancels, edits, flips or promotes an input that was not taken up yet. Done again it does nothing. With `version` " +
          "it is done only to the input as it was seen.",
        params: inputParams,
        body: changeInput,
        response: { 200: inputChanged },
      },
    },
    async (request) => {
      const { id, input } = request.params;
      await requireMayDrive(sessions, id, principalOf(request));
      return sessions.change(id, input, request.body, request.by);
    },
  );

  app.post(
    "/api/sessions/:id/queue",
    {
      schema: {
        tags,
        description:
          "Parks the queue: what is in it waits until it is resumed. What was interrupted is resumed so, too.",
        params: sessionParams,
        body: decideQueue,
        response: { 200: queueAnswer },
      },
    },
    async (request) => {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      return sessions.decideQueue(request.params.id, request.body.decision, request.by);
    },
  );
};
