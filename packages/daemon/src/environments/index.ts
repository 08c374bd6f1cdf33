export type { CommandResults, Environment, EnvironmentDriver, Sweep } from "./port.ts";
