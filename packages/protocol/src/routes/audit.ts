import type { RouteTable } from "./route.ts";

export const audit = {
  "audit.list": {
    route: "GET /api/audit",
    about: "Tells what agents and people ran, with the difference it made; without a cursor the newest.",
    scope: "read",
    reach: "route",
    query: "auditQuery",
    answer: "auditPage",
  },
  "audit.get": {
    route: "GET /api/audit/entries/:id",
    about: "Tells all of one entry.",
    scope: "read",
    reach: "route",
    params: { id: "auditEntryId" },
    answer: "auditEntry",
  },
  "audit.head": {
    route: "GET /api/audit/head",
    about: "Tells the newest link of the chain, to be kept elsewhere.",
    scope: "read",
    reach: "any",
    answer: "headView",
    unwrap: "head",
  },
  "audit.verify": {
    route: "GET /api/audit/verify",
    about: "Goes over the whole chain and tells whether anything was changed by hand.",
    scope: "read",
    reach: "whole",
    query: "verifyChain",
    answer: "chainReport",
  },
} as const satisfies RouteTable;
