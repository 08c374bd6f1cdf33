export { requireCursor } from "./cursor.ts";
export { historyOf } from "./history.ts";
export {
  type By,
  type Change,
  type Guard,
  isGap,
  type Lease,
  type Log,
  type Projection,
  type Row,
  type RowQuery,
} from "./port.ts";
