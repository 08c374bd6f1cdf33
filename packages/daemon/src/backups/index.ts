export type { Backups } from "./backups.ts";
