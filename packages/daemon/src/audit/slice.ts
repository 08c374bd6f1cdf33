import { defineSlice } from "../assembly/index.ts";
import { type Audit, openAudit } from "./audit.ts";
import { auditRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly audit: Audit;
  }
}

export const audit = defineSlice({
  name: "audit",
  needs: ["log"],
  routes: [auditRoutes],
  open: ({ log }) => openAudit(log),
});
