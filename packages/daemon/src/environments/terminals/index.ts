export { openTerminals } from "./open.ts";
