export { openSqliteLog } from "./open.ts";

// For whoever stands before a damaged file.
/** @public */
export { integrityOf } from "./integrity.ts";
/** @public */
export { salvage } from "./salvage.ts";
/** @public */
export { setAside } from "./set-aside.ts";
