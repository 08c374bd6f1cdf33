export { placesInside } from "./keeper.ts";
export type { CommandResults, Environment, EnvironmentDriver, Sweep } from "./port.ts";
