export { openPermits } from "./permits.ts";
