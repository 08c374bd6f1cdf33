import { openTestGateway } from "../gateway/testing.ts";

/** The document that the gateway serves at `/api/openapi.json`. */
export async function readOpenApiDocument(): Promise<unknown> {
  const gate = await openTestGateway();
  try {
    return await (await gate.request("/api/openapi.json")).json();
  } finally {
    await gate.close();
  }
}
