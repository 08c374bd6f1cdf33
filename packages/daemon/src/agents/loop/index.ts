export type { JudgeCall } from "./leave.ts";
export { openLoop } from "./loop.ts";
