import type { RouteTable } from "./route.ts";

export const login = {
  "login.issue": {
    route: "POST /api/login/codes",
    about: "Makes a code that lets one browser in, once, within a minute.",
    scope: "read",
    reach: "any",
    secret: true,
    status: 201,
    answer: "loginCode",
  },
  "login.enter": {
    route: "POST /api/login",
    about: "Begins a visit with a code; from then on the browser's cookie stands for the token.",
    access: "open",
    fromOwnPages: true,
    takesSecrets: true,
    body: "enterLogin",
    answer: "loginAnswer",
  },
  "login.leave": {
    route: "POST /api/logout",
    about: "Ends the visit.",
    scope: "read",
    reach: "any",
    answer: "logoutAnswer",
  },
} as const satisfies RouteTable;
