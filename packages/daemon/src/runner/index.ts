export { openForeman } from "./foreman.ts";
export { endEnvironmentsAtRest } from "./leftovers.ts";
export { openRemoval, type Removal } from "./removal.ts";
