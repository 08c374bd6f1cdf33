export { outsideOfRepositories } from "./search-path.ts";
export { findSystemExecutable, systemFolders } from "./system-executable.ts";
