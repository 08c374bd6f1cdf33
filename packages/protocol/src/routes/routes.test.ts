import { expect, expectTypeOf, test } from "vitest";
import type * as z from "zod";
import { schemaOf } from "../schema-of.ts";
import type { answerQuestion, QuestionAnswered, QuestionView } from "../question.ts";
import type { SessionId } from "../id.ts";
import {
  type AnswerOf,
  type BodyOf,
  nouns,
  type ParamsOf,
  type QueryOf,
  type Route,
  routes,
  type SchemaName,
} from "./index.ts";

const table: readonly (readonly [string, Route])[] = Object.entries(routes);

test("every route has its own name, method and path", () => {
  expect(table.length).toBe(Object.values(nouns).flatMap((noun) => Object.keys(noun)).length);
  expect(new Set(table.map(([, { route }]) => route)).size).toBe(table.length);
});

test("every route declares the parameters of its path, and a body or a query only where one is sent", () => {
  for (const [name, route] of table) {
    const named = [...route.route.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter);
    expect([name, Object.keys(route.params ?? {})]).toEqual([name, named]);
    const isSent = /^(POST|PUT) /.test(route.route);
    expect([name, isSent ? route.query : route.body]).toEqual([name, undefined]);
  }
});

test("what is unwrapped is a field of the answer, and whoever may be followed is asked by `follow`", () => {
  for (const [name, route] of table) {
    if (route.as !== undefined) continue;
    const { answer, unwrap, followed, query } = route;
    expect(unwrap === undefined ? [unwrap] : fieldsOf(answer)).toContain(unwrap);
    expect([name, fieldsOf(query).includes("follow")]).toEqual([name, followed !== undefined]);
  }
});

test("every route is described in one sentence", () => {
  for (const [, { about }] of table) expect(about).toMatch(/^[A-Z][^.]+\.$/);
});

function fieldsOf(name: SchemaName | undefined): readonly string[] {
  return name === undefined ? [] : Object.keys((schemaOf(name) as z.ZodObject).shape);
}

// Held by `tsc`, that is by `npm run check`.
test("types derive from the table", () => {
  expectTypeOf<AnswerOf<"questions.answer">>().toEqualTypeOf<QuestionAnswered>();
  expectTypeOf<AnswerOf<"questions.list">["questions"]>().toEqualTypeOf<QuestionView[]>();
  expectTypeOf<BodyOf<"questions.answer">>().toEqualTypeOf<z.input<typeof answerQuestion>>();
  expectTypeOf<ParamsOf<"sessions.change">>().toEqualTypeOf<{
    readonly id: SessionId;
    readonly input: `inp_${string}`;
  }>();
  expectTypeOf<QueryOf<"questions.list">>().toEqualTypeOf<{
    readonly session?: SessionId | undefined;
    readonly closed?: boolean | undefined;
  }>();
  expectTypeOf<QueryOf<"sessions.search">>().toEqualTypeOf<{
    readonly words: string;
    readonly limit?: number | undefined;
  }>();
  expectTypeOf<QueryOf<"sessions.events">>().toEqualTypeOf<{
    readonly after?: number | undefined;
    readonly limit?: number | undefined;
    readonly project?: `prj_${string}` | undefined;
    readonly types?: readonly string[] | undefined;
    readonly deltas?: boolean | undefined;
  }>();
  expectTypeOf<QueryOf<"sessions.get">>().toEqualTypeOf<undefined>();
});
