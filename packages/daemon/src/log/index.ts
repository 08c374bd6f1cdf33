export type {
  Append,
  Change,
  Guard,
  Lease,
  LiveLane,
  Log,
  Projection,
  ReadRange,
  Row,
  RowQuery,
  Value,
} from "./port.ts";
export type { SqliteLogOptions } from "./sqlite/log.ts";
export { openSqliteLog } from "./sqlite/open.ts";
