export { requestProjections } from "./idempotency.ts";
export { openMeter } from "./meter.ts";
export { openGateway } from "./server.ts";
