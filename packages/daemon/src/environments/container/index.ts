export { openContainerDriver } from "./container.ts";
export { engineFinder } from "./find-engine.ts";
