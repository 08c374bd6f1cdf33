import { problem, sessionList } from "@corral/protocol";
import { type Route, routes } from "@corral/protocol/routes";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestGateway } from "./testing.ts";

interface Operation {
  operationId: string;
  security: object[];
  "x-corral-scope": string;
  parameters?: { name: string; in: string; required?: boolean; schema: AnySchemaObject }[];
  requestBody?: { content: Record<string, { schema: AnySchemaObject }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: AnySchemaObject }> }>;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  components: { schemas: Record<string, AnySchemaObject>; securitySchemes: Record<string, object> };
  paths: Record<string, Record<string, Operation>>;
}

let gate: Awaited<ReturnType<typeof openTestGateway>>;
let document: Document;
beforeEach(async () => {
  gate = await openTestGateway();
  document = await (await gate.request("/api/openapi.json")).json();
});
afterEach(() => gate.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test("every route is in the document, with its scope and its proof", () => {
  const described = operations().map(({ path, method, operation }) => [
    `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
    { scope: operation["x-corral-scope"], security: operation.security },
  ]);
  const expected = Object.values<Route>(routes)
    .filter(({ as }) => as !== "hidden")
    .map((route) => [
      route.route,
      "scope" in route
        ? { scope: route.scope, security: [{ token: [] }, { visit: [] }] }
        : { scope: "none", security: [] },
    ]);
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(expected));
});

test("the document is OpenAPI 3.1: ids are unique, parameters declared, schemas sound, references resolved", () => {
  expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "Corral", version: "1.2.3" } });
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: "corral:", components: document.components });
  const compile = (schema: AnySchemaObject) => ajv.compile(absolute(schema));
  for (const { path, method, operation } of operations()) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? []).filter((each) => each.in === "path").map(({ name }) => name);
    expect({ path, declared }).toEqual({ path, declared: named });
    for (const { schema } of operation.parameters ?? []) compile(schema);
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) compile(schema);
    expect({ path, method, body: operation.requestBody !== undefined }).toEqual({
      path,
      method,
      body: method !== "get" && method !== "delete",
    });
    expect(Object.keys(operation.responses).length).toBeGreaterThan(1);
    for (const { description, content } of Object.values(operation.responses)) {
      expect(description).not.toBe("");
      for (const { schema } of Object.values(content ?? {})) compile(schema);
    }
    expect(operation.responses["default"]?.content).toHaveProperty("application/problem+json");
  }
});

test("ids have their shape in the document", () => {
  const [parameter] = document.paths["/api/sessions/{id}"]?.["get"]?.parameters ?? [];
  expect(parameter?.schema).toMatchObject({ type: "string", pattern: "^ses_[0-9a-z]{1,40}$" });
});

test("streams are described", () => {
  const { content } = document.paths["/api/events"]!["get"]!.responses["200"]!;
  expect(Object.keys(content ?? {}).toSorted()).toEqual(["application/json", "text/event-stream"]);
});

test("what the daemon answers is what the document says, problems too", async () => {
  const { session } = await gate.newSession();
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: "corral:", components: document.components });
  const fits = async (path: string, route: string, status: string, type = "application/json") => {
    const { content } = document.paths[route]!["get"]!.responses[status]!;
    const validate = ajv.compile(absolute(content![type]!.schema));
    const valid = validate(await (await gate.request(path)).json());
    return { path, valid, errors: validate.errors };
  };
  const good = (path: string) => ({ path, valid: true, errors: null });
  for (const [path, route] of [
    ["/api/sessions", "/api/sessions"],
    [`/api/sessions/${session.id}`, "/api/sessions/{id}"],
    ["/api/projects", "/api/projects"],
    ["/api/tokens", "/api/tokens"],
    ["/api/events", "/api/events"],
    ["/healthz", "/healthz"],
  ] as const) {
    expect(await fits(path, route, "200")).toEqual(good(path));
  }
  const missing = "/api/sessions/ses_none";
  expect(await fits(missing, "/api/sessions/{id}", "default", "application/problem+json")).toEqual(good(missing));
  expect(problem.parse(await (await gate.request(missing)).json()).status).toBe(404);
});

test("an answer that is not what the document says never leaves", async () => {
  const wrong = [{ id: "not an id", secret: "x" }] as never;
  const lying = await openTestGateway({
    projects: { ...gate.projects, list: () => Promise.resolve(wrong) },
  });
  const response = await lying.request("/api/projects");
  expect({ status: response.status, ...(await response.json()) }).toMatchObject({ status: 500, code: "internal" });
  expect(sessionList.safeParse({ sessions: wrong }).success).toBe(false);
  await lying.close();
});

/** References to the document's components, as the validator knows them. */
function absolute(schema: AnySchemaObject): AnySchemaObject {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"corral:#/components'));
}
