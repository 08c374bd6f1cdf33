export { rehearsalDriver } from "./driver.ts";
