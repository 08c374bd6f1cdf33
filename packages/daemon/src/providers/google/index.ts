export { google } from "./driver.ts";
