export { endWith } from "./end-with.ts";
export { type CallerLimits, type Callers, mindCallers } from "./mind-callers.ts";
export { mindRequests } from "./mind-requests.ts";
