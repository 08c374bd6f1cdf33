export type { By, Change, Guard, Lease, Log, Projection, Row } from "./port.ts";
