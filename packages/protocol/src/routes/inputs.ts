import type { RouteTable } from "./route.ts";

/** What is said to sessions, until they take it up. */
export const inputs = {
  "sessions.attach": {
    route: "POST /api/sessions/:id/attachments",
    about: "Keeps an image or a text as an artifact of the session, for an input that names it by this answer.",
    scope: "prompt",
    reach: "session",
    params: { id: "sessionId" },
    body: "attachFile",
    // An image as base64, with some more for what is around it.
    bodyLimit: 6_100_000,
    answer: "attachment",
  },
  "sessions.admit": {
    route: "POST /api/sessions/:id/inputs",
    about: "Says something to a session; it is durable before this is answered, and counts once by its id.",
    scope: "prompt",
    reach: "session",
    repeatable: true,
    params: { id: "sessionId" },
    body: "admitInput",
    status: [200, 202],
    answer: "admission",
  },
  "sessions.inbox": {
    route: "GET /api/sessions/:id/inputs",
    about: "Lists what waits to be taken up, in the order in which that will happen.",
    scope: "read",
    reach: "session",
    params: { id: "sessionId" },
    answer: "inboxView",
  },
  "sessions.change": {
    route: "POST /api/sessions/:id/inputs/:input",
    about:
      "Cancels, edits, flips or promotes an input that was not taken up yet; with `version` only the input as it was seen.",
    scope: "prompt",
    reach: "session",
    repeatable: true,
    params: { id: "sessionId", input: "inputId" },
    body: "changeInput",
    answer: "inputChanged",
  },
  "sessions.decideQueue": {
    route: "POST /api/sessions/:id/queue",
    about: "Parks the queue, or resumes one that was parked or interrupted.",
    scope: "prompt",
    reach: "session",
    params: { id: "sessionId" },
    body: "decideQueue",
    answer: "queueAnswer",
  },
} as const satisfies RouteTable;
