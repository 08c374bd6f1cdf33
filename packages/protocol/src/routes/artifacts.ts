import type { RouteTable } from "./route.ts";

export const artifacts = {
  "sessions.artifacts": {
    route: "GET /api/sessions/:id/artifacts",
    about: "Lists the files that came out of a session's work, in the order they began.",
    scope: "read",
    reach: "session",
    params: { id: "sessionId" },
    answer: "artifactList",
    unwrap: "artifacts",
  },
  "shells.artifacts": {
    route: "GET /api/shells/:id/artifacts",
    about: "Lists the files that came out of the work in a shell, in the order they began.",
    scope: "read",
    reach: "route",
    params: { id: "shellId" },
    answer: "artifactList",
    unwrap: "artifacts",
  },
  "artifacts.get": {
    route: "GET /api/artifacts/:id",
    about: "Tells what is known of an artifact.",
    scope: "read",
    reach: "route",
    params: { id: "artifactId" },
    answer: "artifactView",
  },
  "artifacts.read": {
    route: "GET /api/artifacts/:id/content",
    about:
      "Sends an artifact's bytes, or a Range of them, to be saved and never shown as a page; of one that grows those up to now; an answer that is " +
      "shorter than it says was cut off, since what is stored is damaged.",
    scope: "read",
    reach: "route",
    params: { id: "artifactId" },
    as: "bytes",
  },
} as const satisfies RouteTable;
