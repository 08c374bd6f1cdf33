export { openJailDriver } from "./jail.ts";
export { jailOwner, ownersIn } from "../walled/index.ts";
