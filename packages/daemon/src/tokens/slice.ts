import { defineSlice } from "../assembly/index.ts";
import { tokenProjections } from "./projection.ts";
import { tokenRoutes } from "./routes.ts";
import { openTokens, type Tokens } from "./tokens.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly tokens: Tokens;
  }
}

export const tokens = defineSlice({
  name: "tokens",
  needs: ["log", "home"],
  projections: tokenProjections,
  routes: [tokenRoutes],
  open: ({ log, home }) => openTokens(log, { ownerSecret: home.token }),
  close: (own) => own.close(),
});
