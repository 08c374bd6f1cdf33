export { openLocalDriver } from "./local.ts";
