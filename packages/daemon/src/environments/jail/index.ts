export { openJailDriver } from "./jail.ts";
export { jailOwner } from "./workspace.ts";
