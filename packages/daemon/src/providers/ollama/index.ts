export { ollama } from "./driver.ts";
