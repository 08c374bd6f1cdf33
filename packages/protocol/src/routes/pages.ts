import type { RouteTable } from "./route.ts";

export const pages = {
  "pages.home": { route: "GET /", about: "Sends the dashboard's page.", access: "open", as: "hidden" },
  "pages.asset": { route: "GET /assets/*", about: "Sends its scripts and styles.", access: "open", as: "hidden" },
} as const satisfies RouteTable;
