import type { RouteTable } from "./route.ts";

export const config = {
  "config.get": {
    route: "GET /api/config",
    about: "Tells every setting with its value and where that is from.",
    scope: "read",
    reach: "whole",
    query: "ofProject",
    answer: "configView",
  },
  "config.set": {
    route: "PUT /api/config",
    about: "Changes a setting in one of the files.",
    scope: "admin",
    reach: "whole",
    takesSecrets: true,
    body: "setConfig",
    answer: "configView",
  },
  "config.upgrade": {
    route: "POST /api/config/upgrade",
    about: "Rewrites files of settings in today's version.",
    scope: "admin",
    reach: "whole",
    body: "upgradeConfig",
    answer: "upgradeAnswer",
  },
} as const satisfies RouteTable;
