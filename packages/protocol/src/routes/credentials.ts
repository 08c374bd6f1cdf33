import type { RouteTable } from "./route.ts";

/** A key comes in and never goes out. */
export const credentials = {
  "credentials.list": {
    route: "GET /api/credentials",
    about: "Tells where each provider's key is from.",
    scope: "read",
    reach: "whole",
    answer: "credentialList",
    unwrap: "credentials",
  },
  "credentials.put": {
    route: "PUT /api/credentials/:provider",
    about: "Keeps a provider's key, or the command that prints it.",
    scope: "admin",
    reach: "whole",
    takesSecrets: true,
    params: { provider: "providerName" },
    body: "setCredential",
    answer: "credentialAnswer",
  },
  "credentials.remove": {
    route: "DELETE /api/credentials/:provider",
    about: "Forgets a provider's key.",
    scope: "admin",
    reach: "whole",
    params: { provider: "providerName" },
    answer: "credentialAnswer",
  },
  "credentials.test": {
    route: "POST /api/credentials/:provider/test",
    about: "Asks the provider whether it takes the key, which costs nothing.",
    scope: "admin",
    reach: "whole",
    params: { provider: "providerName" },
    answer: "credentialTest",
  },
} as const satisfies RouteTable;
