export { openRetention } from "./retention.ts";
