export { type Egress, openEgress } from "./egress.ts";
export { egressProjections } from "./projection.ts";
