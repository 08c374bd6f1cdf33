export { openFiles, versionOf } from "./files.ts";
export { runProgram } from "./hands/program.ts";
