export { seccompProgram } from "./program.ts";
export { architectures, type Architecture } from "./syscalls.ts";
