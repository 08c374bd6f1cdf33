import type { DecideSetup, SessionId, SetupAnswer } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { By } from "../log/index.ts";
import type { Handlers } from "../routing/index.ts";
import type { Workspaces } from "./workspaces.ts";

interface Needs {
  readonly workspaces: Workspaces;
  readonly sessions: {
    decideSetup(id: SessionId, decision: DecideSetup["decision"], by: By): Promise<SetupAnswer>;
  };
}

export function workspaceRoutes({ sessions, workspaces }: Needs): Handlers<RoutesOf<"workspaces">> {
  return {
    "sessions.diff": (request) => workspaces.diff(request.params.id),
    "sessions.bringBack": (request) =>
      workspaces.bring(request.params.id, request.by, { edited: request.body.edited ?? false }),
    "sessions.merge": (request) => workspaces.merge(request.params.id, request.body, request.by),
    "sessions.discard": (request) =>
      workspaces[request.body.undo === true ? "restore" : "discard"](request.params.id, request.by),
    "sessions.decideSetup": (request) => sessions.decideSetup(request.params.id, request.body.decision, request.by),
  };
}
