export { type Gateway, type GatewayParts, openGateway } from "./server.ts";
