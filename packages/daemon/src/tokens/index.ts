export { tokenProjections } from "./projection.ts";
export { openTokens, type Tokens } from "./tokens.ts";
export { tokenRoutes } from "./routes.ts";
