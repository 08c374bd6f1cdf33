export type { Digest, Part, Store } from "./port.ts";
