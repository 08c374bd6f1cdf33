import type { RouteTable } from "./route.ts";

export const models = {
  models: {
    route: "GET /api/models",
    about: "Lists models with what is known of them; providers that list theirs are asked.",
    scope: "read",
    reach: "whole",
    answer: "modelList",
    unwrap: "models",
  },
  usage: {
    route: "GET /api/usage",
    about: "Sums up what models were asked and what it cost.",
    scope: "read",
    reach: "whole",
    query: "viewUsage",
    answer: "usageView",
  },
} as const satisfies RouteTable;
