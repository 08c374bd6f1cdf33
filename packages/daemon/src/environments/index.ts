export { BridgeKeeping } from "./bridge.ts";
export { driversOf, type EnvironmentDrivers } from "./drivers.ts";
export { engineSockets } from "./engines.ts";
export { placesInside } from "./keeper.ts";
export { defaultLimits, limitsFrom, planOf, workspaceIn } from "./plan.ts";
export type { CommandResults, Environment, EnvironmentDriver, KeptLimit, Owner, Sweep } from "./port.ts";
export { removeFolder } from "./remove-folder.ts";
export type { Terminal } from "./terminals/port.ts";
export { shellWishOf, type UsualContainer, wishOf } from "./wish.ts";
