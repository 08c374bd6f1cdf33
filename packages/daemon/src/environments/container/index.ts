export { openContainerDriver } from "./container.ts";
