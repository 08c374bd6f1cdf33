import type { RouteTable } from "./route.ts";

export const rules = {
  "rules.view": {
    route: "GET /api/rules",
    about: "Tells which rules hold, and where they are from.",
    scope: "read",
    reach: "whole",
    query: "viewRules",
    answer: "rulesView",
  },
  "rules.check": {
    route: "POST /api/rules/check",
    about: "Explains what rules say about a call; nothing is done.",
    scope: "read",
    reach: "whole",
    body: "checkRules",
    answer: "judgement",
  },
  "rules.kept": {
    route: "GET /api/rules/kept",
    about: 'Lists what people said "always" to, for sessions, agents and projects, the oldest first.',
    scope: "read",
    reach: "whole",
    query: "ofProject",
    answer: "keptRules",
    unwrap: "rules",
  },
  "rules.forget": {
    route: "DELETE /api/rules/kept/:id",
    about: 'Takes an "always" back, from the next call on.',
    scope: "operate",
    reach: "whole",
    params: { id: "ruleId" },
    answer: "ruleForgotten",
  },
} as const satisfies RouteTable;
