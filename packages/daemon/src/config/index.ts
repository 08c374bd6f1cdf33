export { type Config, openConfig } from "./config.ts";
export { userConfigFile } from "./user-file.ts";
