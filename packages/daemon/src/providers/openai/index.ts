export { openai } from "./driver.ts";
