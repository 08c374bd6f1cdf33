export { shellProjections } from "./projections.ts";
export { openShells, type OutputRange, type Shells } from "./shells.ts";
export { findOrOpenShell, type OpenShell, type RunOptions, type ShellOptions } from "./standalone.ts";
export type { FollowedCommand } from "./routes.ts";
