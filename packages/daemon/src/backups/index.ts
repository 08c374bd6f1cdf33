export { openBackups, type Backups } from "./backups.ts";
export { backupRoutes } from "./routes.ts";
