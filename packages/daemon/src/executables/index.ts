export { outsideOfRepositories } from "./search-path.ts";
export { findSystemExecutable, executableFolders } from "./system-executable.ts";
