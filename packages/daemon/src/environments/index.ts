export { jailOwner, type JailOptions, openJailDriver } from "./jail/jail.ts";
export type { Command, CommandResults, Environment, EnvironmentDriver, EnvironmentPlan, Shell } from "./port.ts";
