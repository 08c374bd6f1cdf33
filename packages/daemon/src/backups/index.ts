export { openBackups, type Backups } from "./backups.ts";
