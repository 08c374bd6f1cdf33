export { keepLastWords } from "./last-words.ts";
export { loggerTo, openLogging } from "./logger.ts";
