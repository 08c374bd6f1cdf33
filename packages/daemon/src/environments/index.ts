export { BridgeKeeping } from "./bridge.ts";
export { driversOf, type EnvironmentDrivers } from "./drivers.ts";
export { measure } from "./limits/index.ts";
export { placesInside } from "./keeper.ts";
export { defaultLimits, limitsFrom, planOf, workspaceIn } from "./plan.ts";
export type { CommandResults, Environment, EnvironmentDriver, KeptLimit, Owner, Sweep } from "./port.ts";
export { identify, isAlive } from "./process-identity.ts";
export { removeFolder } from "./remove-folder.ts";
export { shellWishOf, wishOf } from "./wish.ts";
