export { type Credentials, openCredentials } from "./credentials.ts";
