export { compatible } from "./driver.ts";
