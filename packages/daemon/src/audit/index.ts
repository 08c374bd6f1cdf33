export { type Audit, openAudit } from "./audit.ts";
export { auditRoutes } from "./routes.ts";
