import type { FastifyInstance } from "fastify";
import * as z from "zod";

/** What was asked does not have the shape it should have. */
export class InvalidRequest extends Error {
  override readonly name = "InvalidRequest";
  readonly issues: readonly z.core.$ZodIssue[];

  constructor({ issues }: z.ZodError) {
    super("The request does not have the shape it should have");
    this.issues = issues;
  }
}

/** Requests are read by their schemas, and no answer leaves that its own does not take. */
export function mindSchemas(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (value) => {
    const { data, error } = schema.safeParse(value);
    return error === undefined ? { value: data } : { error: new InvalidRequest(error) };
  });
  app.setSerializerCompiler<z.ZodType>(({ schema, method, url }) => (answer) => {
    const { data, error } = z.safeEncode(schema, answer);
    if (error !== undefined) throw new Error(`${method} ${url} answers with something else`, { cause: error });
    return JSON.stringify(data);
  });
}
