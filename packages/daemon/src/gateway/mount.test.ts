import type { RouteName } from "@corral/protocol/routes";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { routesOf } from "../assembly/index.ts";
import { slices } from "../daemon.ts";
import type { Handlers } from "../routing/index.ts";
import { allHandlers } from "./handlers.ts";
import { mount } from "./mount.ts";

/** They are made, and never asked anything. */
const handlers = allHandlers(routesOf(slices), { shells: {} } as never);

test("a route without a handler keeps the gateway from opening", () => {
  const { "questions.answer": _, ...others } = handlers;
  expect(() => mount(Fastify(), others as Handlers<RouteName>)).toThrow("no handler answers questions.answer");
});

test("a handler without a route keeps the gateway from opening", () => {
  const more = { ...handlers, "ponies.list": () => [] };
  expect(() => mount(Fastify(), more)).toThrow("ponies.list is not in the table of routes");
});

test("a route that somebody else adds keeps the gateway from opening", () => {
  const app = Fastify();
  mount(app, handlers);
  expect(() => app.get("/api/forgotten", () => "")).toThrow("GET /api/forgotten is not in the table of routes");
});
