import type { input, output } from "zod";
import type { SchemaName, Schemas } from "./route.ts";
import type { Noun, nouns, RouteName, Routes } from "./table.ts";

/** The names of a noun's routes. */
export type RoutesOf<N extends Noun> = keyof (typeof nouns)[N];

/** What a route answers with, or, of a socket, one of its messages. */
export type AnswerOf<N extends RouteName> = Routes[N] extends { readonly answer: infer S extends SchemaName }
  ? output<Schemas[S]>
  : undefined;

/** What is put into a route. */
export type BodyOf<N extends RouteName> = Routes[N] extends { readonly body: infer S extends SchemaName }
  ? input<Schemas[S]>
  : undefined;

export type ParamsOf<N extends RouteName> = Routes[N] extends {
  readonly params: infer P extends Readonly<Record<string, SchemaName>>;
}
  ? { readonly [K in keyof P]: input<Schemas[P[K]]> }
  : undefined;

/** As programs say it: a flag is a boolean, a list an array. A stream is not asked for by `follow`, but followed. */
export type QueryOf<N extends RouteName> = Routes[N] extends { readonly query: infer S extends SchemaName }
  ? Query<input<Schemas[S]>, output<Schemas[S]>, Routes[N] extends { readonly followed: string } ? "follow" : never>
  : undefined;

type Query<In, Out, Left> = {
  readonly [K in keyof In as Exclude<K, Left>]: Said<Out[K & keyof Out]> | Extract<undefined, In[K]>;
};

type Said<T> = [Exclude<T, undefined>] extends ["0" | "1"]
  ? boolean
  : T extends readonly (infer E)[]
    ? readonly E[]
    : T;

/** What a handler is given, in the words of the HTTP framework. */
export interface Taken<N extends RouteName> {
  readonly Params: Routes[N] extends { readonly params: infer P extends Readonly<Record<string, SchemaName>> }
    ? { readonly [K in keyof P]: output<Schemas[P[K]]> }
    : unknown;
  readonly Querystring: Routes[N] extends { readonly query: infer S extends SchemaName } ? output<Schemas[S]> : unknown;
  readonly Body: Routes[N] extends { readonly body: infer S extends SchemaName } ? output<Schemas[S]> : unknown;
}
