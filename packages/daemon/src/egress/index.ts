export { type Egress, openEgress } from "./egress.ts";
export { egressProjections } from "./projection.ts";
export { networkRoutes } from "./routes.ts";
