export { openForeman } from "./foreman.ts";
export type { RunnerHost } from "./port.ts";
