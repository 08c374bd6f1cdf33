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
export { openSqliteLog, type SqliteLogOptions } from "./sqlite/log.ts";
