export { openLoop } from "./loop.ts";
