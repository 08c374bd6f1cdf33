export { openHome } from "./home.ts";
export { lockHome } from "./lock.ts";
export { homeFolder } from "./place.ts";
