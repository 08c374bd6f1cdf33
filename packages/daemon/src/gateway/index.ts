export { openGateway } from "./server.ts";
