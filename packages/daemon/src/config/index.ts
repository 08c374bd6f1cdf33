export type { Config } from "./config.ts";
export { Broken, parseJsonFile, placeAt, withoutMark } from "./json-file.ts";
export { userConfigFile } from "./user-file.ts";
