export type { JudgeCall } from "./leave.ts";
export { openLoop } from "./loop.ts";
export { openContext, readPersonal } from "./context/index.ts";
