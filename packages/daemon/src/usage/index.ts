export type { Usage } from "./usage.ts";
