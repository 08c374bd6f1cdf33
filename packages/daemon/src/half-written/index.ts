export { besideOf, removeHalfWritten } from "./half-written.ts";
