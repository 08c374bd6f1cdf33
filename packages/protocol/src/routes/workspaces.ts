import type { RouteTable } from "./route.ts";

export const workspaces = {
  "sessions.diff": {
    route: "GET /api/sessions/:id/diff",
    about: "Tells what a session changed, what it has not committed included.",
    scope: "read",
    reach: "session",
    params: { id: "sessionId" },
    answer: "workspaceDiff",
  },
  "sessions.bringBack": {
    route: "POST /api/sessions/:id/bring-back",
    about: "Brings what is in the workspace now into the user's repository, as a branch.",
    scope: "operate",
    reach: "session",
    params: { id: "sessionId" },
    body: "bringBackWorkspace",
    answer: "bringBackAnswer",
  },
  "sessions.merge": {
    route: "POST /api/sessions/:id/merge",
    about:
      "Merges the session's branch into what is checked out in the user's folder; conflicts, and changes of the user's own in the way, are told before " +
      "anything is touched.",
    scope: "operate",
    reach: "session",
    params: { id: "sessionId" },
    body: "mergeWorkspace",
    answer: "mergeAnswer",
  },
  "sessions.discard": {
    route: "POST /api/sessions/:id/discard",
    about: "Moves the workspace aside and takes its branch out of the user's repository; `undo` brings both back.",
    scope: "operate",
    reach: "session",
    params: { id: "sessionId" },
    body: "discardWorkspace",
    answer: "discardAnswer",
  },
  "sessions.decideSetup": {
    route: "POST /api/sessions/:id/setup",
    about: "Cancels the set-up of a copy, runs it again, or goes on without it.",
    scope: "prompt",
    reach: "session",
    params: { id: "sessionId" },
    body: "decideSetup",
    answer: "setupAnswer",
  },
} as const satisfies RouteTable;
