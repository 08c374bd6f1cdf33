export { endWith } from "./end-with.ts";
export { mindRequests } from "./mind-requests.ts";
