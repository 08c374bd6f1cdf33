import { problem, type Scope } from "@corral/protocol";
import { z } from "zod";
import { access } from "./access.ts";

type Json = Record<string, unknown>;
interface Operation extends Json {
  responses?: Json;
  parameters?: unknown[];
}

/** What every operation has in common, so that no route says it by itself: who may, by which proof, and how it fails. */
export function completeDocument(document: Json & { paths?: unknown; components?: unknown }): Json {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const components = document.components as Json;
  return {
    ...document,
    components: { ...components, schemas: { ...(components["schemas"] as Json), Problem: z.toJSONSchema(problem) } },
    paths: mapValues(paths, (path, methods) =>
      mapValues(methods, (method, operation) => complete(method, path, operation)),
    ),
  };
}

function complete(method: string, path: string, operation: Operation): Operation {
  const entry = access[`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`];
  const scope: Scope | undefined = entry === undefined || entry === "open" ? undefined : entry[0];
  const headers = method === "post" && scope !== undefined ? [idempotencyKey] : [];
  return {
    operationId: operationId(method, path),
    ...operation,
    ...(headers.length === 0 ? {} : { parameters: [...(operation.parameters ?? []), ...headers] }),
    security: scope === undefined ? [] : [{ token: [] }, { visit: [] }],
    "x-corral-scope": scope ?? "none",
    responses: { ...operation.responses, default: refusal },
  };
}

const refusal = {
  description: "It was refused or failed; `code` says why and `hint` what to do",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
};

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key and body again: the first answer again. With another body: 409",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};

/** `GET /api/sessions/{id}/events` is getSessionsIdEvents. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api\//, "/").split(/[^A-Za-z0-9]+/);
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function mapValues<T, R>(of: Readonly<Record<string, T>>, change: (key: string, value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(key, value)]));
}
