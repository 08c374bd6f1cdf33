export { type Gateway, type GatewayParts, openGateway } from "./server.ts";
export type { Projects, Sessions } from "./slices.ts";
