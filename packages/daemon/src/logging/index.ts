export { loggerTo, openLogging } from "./logger.ts";
