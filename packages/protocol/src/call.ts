import * as z from "zod";

/**
 * What a call is about to make of a file, by the versions that name its content (SHA-256); null: there is none. `from`: the file comes
 * from there, where it had the version `before`.
 */
export const callChange = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  from: z.string().optional(),
});
export type CallChange = z.infer<typeof callChange>;
