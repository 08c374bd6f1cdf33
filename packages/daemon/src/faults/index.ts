export { fault } from "./fault.ts";
