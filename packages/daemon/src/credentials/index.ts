export type { Credentials } from "./credentials.ts";
export { keysFinding, reachable, unreadableKeys } from "./finding.ts";
