export { type Digest, isDigest, type Page, type Part, type Store, type Stored, type StoredObject } from "./port.ts";
