export type { CommandResults, Environment, EnvironmentDriver } from "./port.ts";
