import { problem } from "@corral/protocol";
import { nouns, type Route } from "@corral/protocol/routes";
import { schemaOf } from "@corral/protocol/schema-of";
import { z } from "zod";
import { bodyOf, paramsOf, statusesOf } from "./mount.ts";

type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI document: what the table of routes says, in other words. */
export function describeApi(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [noun, table] of Object.entries(nouns)) {
    for (const route of Object.values<Route>(table)) {
      const [method = "", url = ""] = route.route.split(" ");
      const path = url.replaceAll(/:(\w+)/g, "{$1}");
      if (route.as !== "hidden") (paths[path] ??= {})[method.toLowerCase()] = operationOf(noun, route, path);
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Corral", version },
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The owner's token file, or a token that was made" },
        visit: { type: "apiKey", in: "cookie", name: "corral-PORT", description: "A browser's visit" },
      },
      schemas: { Problem: z.toJSONSchema(problem) },
    },
    paths,
  };
}

function operationOf(noun: string, route: Route, path: string): Json {
  const method = route.route.slice(0, route.route.indexOf(" ")).toLowerCase();
  const scope = "scope" in route ? route.scope : undefined;
  const body = bodyOf(route);
  const parameters = [
    ...parametersIn("path", paramsOf(route)),
    ...parametersIn("query", route.query === undefined ? undefined : (schemaOf(route.query) as z.ZodObject)),
    ...(method === "post" && scope !== undefined ? [idempotencyKey] : []),
  ];
  return {
    operationId: operationId(method, path),
    tags: [noun],
    summary: route.about,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: jsonOf(body, "input") } } } }),
    security: scope === undefined ? [] : [{ token: [] }, { visit: [] }],
    "x-corral-scope": scope ?? "none",
    responses: {
      ...Object.fromEntries(statusesOf(route).map((status) => [status, answerOf(route)])),
      default: refusal,
    },
  };
}

function parametersIn(where: "path" | "query", schema: z.ZodObject | undefined): readonly Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonOf(schema, "input") as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...shape }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: shape,
  }));
}

function answerOf(route: Route): Json {
  switch (route.as) {
    case "text":
      return { description: "The text", content: { "text/plain": { schema: { type: "string" } } } };
    case "bytes":
      return { description: "The bytes", content: { "application/octet-stream": { schema: { type: "string" } } } };
    case "hidden":
      return {};
    case "socket":
    case undefined:
      return { description: descriptionOf(route), content: contentOf(route) };
  }
}

function descriptionOf({ answer }: Route): string {
  return (answer === undefined ? undefined : schemaOf(answer).description) ?? "The answer";
}

function contentOf(route: Route): Json {
  const followed = route.as === undefined ? route.followed : undefined;
  return {
    ...(route.answer === undefined ? {} : { "application/json": { schema: jsonOf(schemaOf(route.answer), "output") } }),
    ...(followed === undefined ? {} : { "text/event-stream": { schema: jsonOf(schemaOf(followed), "output") } }),
  };
}

/** As it is sent, or as it is answered. What no schema can say, such as how an id is checked, is left out. */
function jsonOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" });
  return json;
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
