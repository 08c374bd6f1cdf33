export { type Egress, openEgress } from "./egress.ts";
export { egressProjections } from "./projection.ts";
export type { Resolve } from "./resolve.ts";
