export type { RouteParts } from "./handlers.ts";
export { requestProjections } from "./idempotency.ts";
