export { type Context, openContext } from "./context.ts";
export { readPersonal } from "./personal.ts";
export { standingInstructions } from "./system.ts";
