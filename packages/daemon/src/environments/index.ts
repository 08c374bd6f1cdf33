export { BridgeKeeping } from "./bridge.ts";
export { placesInside } from "./keeper.ts";
export { defaultLimits, planOf } from "./plan.ts";
export { removeFolder } from "./remove-folder.ts";
export type { CommandResults, Environment, EnvironmentDriver, Sweep } from "./port.ts";
