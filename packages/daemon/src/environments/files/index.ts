export { openFiles, versionOf } from "./files.ts";
export { runProgram } from "./program.ts";
