export { jailOwner, openJailDriver } from "./jail.ts";
