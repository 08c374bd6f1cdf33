import { join } from "node:path";
import { defineSlice } from "../assembly/index.ts";
import { type Backups, openBackups } from "./backups.ts";
import { backupRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly backups: Backups;
  }
}

export const backups = defineSlice({
  name: "backups",
  needs: ["home", "log"],
  routes: [backupRoutes],
  open: ({ home, log }) => openBackups({ log, folder: join(home.folder, "backups") }),
});
