export type { Change, Guard, Lease, Log, Projection, Row } from "./port.ts";
