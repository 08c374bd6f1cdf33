export { type Credentials, openCredentials } from "./credentials.ts";
export { keysFinding, reachable, unreadableKeys } from "./finding.ts";
