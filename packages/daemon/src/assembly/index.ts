export { defectsOf } from "./defects.ts";
export {
  defineSlice,
  type Given,
  type HandledBy,
  type NeedsOfRoutes,
  openSlices,
  type ProvidedBy,
  routesOf,
} from "./assembly.ts";
export { openStopping } from "./stopping.ts";
