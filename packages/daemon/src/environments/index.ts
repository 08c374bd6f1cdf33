export { placesInside } from "./keeper.ts";
export { defaultLimits, limitsFrom, planOf } from "./plan.ts";
export { removeFolder } from "./remove-folder.ts";
export type { CommandResults, Environment, EnvironmentDriver, KeptLimit, Sweep } from "./port.ts";
