export { beginSqliteLog, isSuspect, type SetAside } from "./begin.ts";
export { openSqliteLog } from "./open.ts";

// For whoever stands before a damaged file, or a copy.
export { openChainFile } from "./chain-file.ts";
export { exportSalvaged } from "./export.ts";
export { integrityOf } from "./integrity.ts";
export { restore } from "./restore.ts";
export { damagedBeside } from "./set-aside.ts";
