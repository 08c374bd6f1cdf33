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
  needs: ["machine", "log", "home"],
  projections: tokenProjections,
  routes: [tokenRoutes],
  open: ({ machine, log, home }) => openTokens(log, { ownerSecret: home.token, now: machine.now }),
  close: (own) => own.close(),
});
