export { anthropic } from "./driver.ts";
