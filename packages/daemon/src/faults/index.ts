export { fault, faultWith } from "./fault.ts";
