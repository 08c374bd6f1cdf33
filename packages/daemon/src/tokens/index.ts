export { isBounded, isFullAdmin, type Principal } from "./principal.ts";
export { tokenProjections } from "./projection.ts";
export { openTokens, type Tokens } from "./tokens.ts";
