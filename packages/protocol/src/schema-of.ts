import type { ZodType } from "zod";
import type { SchemaName } from "./routes/index.ts";
import * as schemas from "./schemas.ts";

const all = { ...schemas } as unknown as Readonly<Record<SchemaName, ZodType>>;

/** The schema that a route names. */
export function schemaOf(name: SchemaName): ZodType {
  return all[name];
}
