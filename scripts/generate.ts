import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOpenApiDocument } from "@corral/daemon/testing";
import { format, type FormatConfig } from "oxfmt";
import { type OpenApiDocument, typesOf } from "./openapi-types.ts";

const root = join(import.meta.dirname, "..");

/** Where the SDK's types are kept. */
export const generatedFile = join(root, "packages/client/src/generated.ts");

const heading = `/**
 * The daemon's API as its OpenAPI document tells it. Made by \`npm run generate\`; not to be edited. A test compares it with
 * what the document says by now.
 */`;

/** What the file has to say, from the document of a gateway that is opened for it. */
export async function generateTypes(): Promise<string> {
  const options = JSON.parse(await readFile(join(root, ".oxfmtrc.json"), "utf8")) as FormatConfig;
  const source = typesOf((await readOpenApiDocument()) as OpenApiDocument, heading);
  const { code, errors } = await format(generatedFile, source, options);
  if (errors.length > 0) throw new Error(`What was generated cannot be read: ${JSON.stringify(errors)}\n${source}`);
  return code;
}

if (import.meta.main) await writeFile(generatedFile, await generateTypes());
