import {
  bringBackAnswer,
  bringBackWorkspace,
  decideSetup,
  discardAnswer,
  discardWorkspace,
  mergeAnswer,
  mergeWorkspace,
  setupAnswer,
  workspaceDiff,
} from "@corral/protocol";
import type { Routes } from "./routes.ts";
import { sessionParams } from "./sessions.ts";

export const workspaceRoutes: Routes = (app, { sessions, workspaces }) => {
  const tags = ["workspaces"];
  const params = sessionParams;

  app.get(
    "/api/sessions/:id/diff",
    {
      schema: {
        tags,
        description: "What the session changed, what it has not committed included.",
        params,
        response: { 200: workspaceDiff },
      },
    },
    (request) => workspaces.diff(request.params.id),
  );

  app.post(
    "/api/sessions/:id/bring-back",
    {
      schema: {
        tags,
        description: "Brings what is in the workspace now into the user's repository, as a branch.",
        params,
        body: bringBackWorkspace,
        response: { 200: bringBackAnswer },
      },
    },
    (request) => workspaces.bring(request.params.id, request.by, { edited: request.body.edited ?? false }),
  );

  app.post(
    "/api/sessions/:id/merge",
    {
      schema: {
        tags,
        description:
          "Merges the session's branch into what is checked out in the user's folder. Conflicts, and changes of the " +
          "user's own that are in the way, are told before anything is touched.",
        params,
        body: mergeWorkspace,
        response: { 200: mergeAnswer },
      },
    },
    (request) => workspaces.merge(request.params.id, request.body, request.by),
  );

  app.post(
    "/api/sessions/:id/discard",
    {
      schema: {
        tags,
        description:
          "Moves the workspace aside and takes its branch out of the user's repository; `undo` brings both back.",
        params,
        body: discardWorkspace,
        response: { 200: discardAnswer },
      },
    },
    (request) => workspaces[request.body.undo === true ? "restore" : "discard"](request.params.id, request.by),
  );

  app.post(
    "/api/sessions/:id/setup",
    { schema: { tags, params, body: decideSetup, response: { 200: setupAnswer } } },
    (request) => sessions.decideSetup(request.params.id, request.body.decision, request.by),
  );
};
