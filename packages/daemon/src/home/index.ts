export { diskUse } from "./disk.ts";
export { openHome } from "./home.ts";
export { removeDaemonInfo, writeDaemonInfo } from "./info.ts";
export { lockHome } from "./lock.ts";
export { ownerToken } from "./token.ts";
export { homeFolder } from "./place.ts";
