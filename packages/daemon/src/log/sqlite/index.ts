export { openSqliteLog } from "./open.ts";
