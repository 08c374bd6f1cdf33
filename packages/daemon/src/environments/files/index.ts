export { openFiles, versionOf } from "./files.ts";
export { runProcess } from "./hands/run-process.ts";
