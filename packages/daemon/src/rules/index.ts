export { judge } from "./judge.ts";
export type { Call } from "./port.ts";
