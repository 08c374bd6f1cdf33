export { openFiles, versionOf } from "./files.ts";
