export { openLoop } from "./loop.ts";
export { openContext, readPersonal } from "./context/index.ts";
