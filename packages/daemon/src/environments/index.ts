export { driversOf, type EnvironmentDrivers } from "./drivers.ts";
export { placesInside } from "./keeper.ts";
export { defaultLimits, limitsFrom, planOf, workspaceIn } from "./plan.ts";
export type { CommandResults, Environment, EnvironmentDriver, KeptLimit, Owner, Sweep } from "./port.ts";
export { removeFolder } from "./remove-folder.ts";
export { wishOf } from "./wish.ts";
export type { Terminal, TerminalEnd, TerminalSize } from "./terminals/port.ts";
