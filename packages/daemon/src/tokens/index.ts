export { tokenProjections } from "./projection.ts";
export { openTokens, type Tokens } from "./tokens.ts";
