export type { Secret } from "./mask.ts";
export { declinedFor, maskedEvent } from "./masked-event.ts";
export { maskedLog, maskedReads } from "./masked-log.ts";
export { mustHoldNoSecret } from "./refusal.ts";
export { Secrets, type Stream } from "./secrets.ts";
export { passwordsIn } from "./variables.ts";
