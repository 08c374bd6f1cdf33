import type { RouteTable } from "./route.ts";

export const network = {
  network: {
    route: "GET /api/network",
    about: "Tells which hosts sessions and shells have reached, or were refused.",
    scope: "read",
    reach: "route",
    query: "viewNetwork",
    answer: "networkView",
  },
} as const satisfies RouteTable;
