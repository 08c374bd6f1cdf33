export { openJailDriver } from "./jail.ts";
export { jailOwner } from "../walled/index.ts";
