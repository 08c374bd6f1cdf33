import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFile, generateTypes } from "../scripts/generate.ts";
import { type OpenApiDocument, type Schema, typesOf } from "../scripts/openapi-types.ts";

test("the SDK's types are what the daemon's document says (otherwise: npm run generate)", async () => {
  expect(readFileSync(generatedFile, "utf8")).toBe(await generateTypes());
});

/** The type that comes of a schema. */
function typeOf(schema: object): string {
  const response = { content: { "application/json": { schema: schema as Schema } } };
  const document: OpenApiDocument = {
    paths: { "/x": { get: { responses: { 200: response } } } },
    components: { schemas: {} },
  };
  const [, type] = /answer: (.*);/.exec(typesOf(document, "")) ?? [];
  return type ?? "";
}

test.each([
  [{}, "unknown"],
  [{ type: "string", maxLength: 3 }, "string"],
  [{ type: "string", pattern: "^ses_[0-9a-z]{1,40}$" }, "`ses_${string}`"],
  [{ type: ["integer", "null"] }, "number | null"],
  [{ type: "string", enum: ["a", "b"] }, '"a" | "b"'],
  [{ const: true }, "true"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
  [{ oneOf: [{ type: "number" }, { type: "integer" }] }, "number"],
  [{ type: "array", items: { type: "boolean" } }, "(boolean)[]"],
  [{ type: "object", additionalProperties: false }, "Record<string, never>"],
  [{ type: "object", additionalProperties: { type: "number" } }, "{ [key: string]: number }"],
  [
    { type: "object", properties: { a: { type: "number" }, b: { type: "string" } }, required: ["b"] },
    '{ "a"?: number | undefined; "b": string; }',
  ],
  [{ $ref: "#/components/schemas/Problem" }, "Problem"],
])("%j is the type %s", (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});

test.each([
  [{ allOf: [{ type: "string" }] }, "allOf"],
  [{ type: "object", properties: { a: { not: {} } } }, "not"],
  [{ type: "tuple" }, "tuple"],
  [{ type: "object", properties: { a: {} }, additionalProperties: { type: "string" } }, "besides the named ones"],
  [{ $ref: "https://example.com/schema" }, "not in the document"],
])("%j is refused rather than half understood", (schema, complaint) => {
  expect(() => typeOf(schema)).toThrow(complaint);
});
