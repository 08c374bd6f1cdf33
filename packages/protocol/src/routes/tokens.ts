import type { RouteTable } from "./route.ts";

export const tokens = {
  "tokens.list": {
    route: "GET /api/tokens",
    about: "Lists tokens, without their secrets.",
    scope: "read",
    reach: "route",
    answer: "tokenList",
    unwrap: "tokens",
  },
  "tokens.create": {
    route: "POST /api/tokens",
    about: "Makes a token; its secret is told this once.",
    scope: "operate",
    reach: "route",
    secret: true,
    body: "createToken",
    status: 201,
    answer: "createdToken",
  },
  "tokens.revoke": {
    route: "POST /api/tokens/:id/revoke",
    about: "Ends a token, those made with it, and all they have open.",
    scope: "operate",
    reach: "route",
    params: { id: "tokenId" },
    answer: "revokeAnswer",
  },
} as const satisfies RouteTable;
