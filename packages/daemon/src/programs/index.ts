export { outsideOfRepositories } from "./search-path.ts";
export { findSystemProgram, systemPlaces } from "./system-program.ts";
