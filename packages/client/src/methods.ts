import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route, RouteName, Routes } from "@corral/protocol/routes";
import { routes } from "@corral/protocol/routes";
import { methodOf, parameters } from "./address.ts";
import type { Sending, Transport, Waiting } from "./transport.ts";

/**
 * A method for each route that answers with JSON, by its name in the table: `questions.answer` is `methods.questions.answer`. It takes the
 * parameters of the path in their order, then the body or the query, then a signal and, where something is sent, a key.
 */
export type Methods = {
  readonly [N in Nouns]: { readonly [V in Verbs<N>]: Method<`${N}.${V}` & Callable> };
} & { readonly [N in Alone]: Method<N> };

type Callable = { [N in RouteName]: Routes[N] extends { readonly as: string } ? never : N }[RouteName];
type Nouns = Callable extends infer N ? (N extends `${infer Noun}.${string}` ? Noun : never) : never;
type Verbs<N extends string> = Callable extends infer C ? (C extends `${N}.${infer Verb}` ? Verb : never) : never;
type Alone = Callable extends infer N ? (N extends `${string}.${string}` ? never : N & Callable) : never;

export type Method<N extends Callable> = (
  ...given: [...Path<N>, ...Wish<N>, options?: Options<N>]
) => Promise<Resolved<N>>;

type Path<N extends Callable> =
  ParamsIn<Routes[N]["route"], ParamsOf<N>> extends readonly [infer A, infer B]
    ? [id: A, part: B]
    : ParamsIn<Routes[N]["route"], ParamsOf<N>> extends readonly [infer A]
      ? [id: A]
      : [];

/** In the order of the path. */
type ParamsIn<Where extends string, Params> = Where extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Further}`
    ? [Params[Name & keyof Params], ...ParamsIn<Further, Params>]
    : [Params[Rest & keyof Params]]
  : [];

type Wish<N extends Callable> = BodyOf<N> extends undefined ? Optional<QueryOf<N>> : Optional<BodyOf<N>>;
type Optional<W> = [W] extends [undefined]
  ? []
  : Partial<W> extends W
    ? [wish?: W & NotYetOptions]
    : [wish: W & NotYetOptions];

/** A signal stands behind what is wished for, not in it. */
interface NotYetOptions {
  readonly signal?: never;
}

type Options<N extends Callable> = Routes[N]["route"] extends `POST ${string}` ? Sending : Waiting;

type Resolved<N extends Callable> = Routes[N] extends { readonly unwrap: infer Field extends keyof AnswerOf<N> }
  ? Unchanging<AnswerOf<N>[Field]>
  : AnswerOf<N>;

type Unchanging<T> = T extends readonly (infer E)[] ? readonly E[] : T;

/** Made of the table as it is. */
export function methodsOver(transport: Transport): Methods {
  const methods: Record<string, unknown> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    if (route.as !== undefined) continue;
    const dot = name.indexOf(".");
    const method = methodOver(transport, route);
    if (dot < 0) methods[name] = method;
    else ((methods[name.slice(0, dot)] ??= {}) as Record<string, unknown>)[name.slice(dot + 1)] = method;
  }
  return methods as Methods;
}

/** Looks at its route when it is called: clients are made more often than any one method is used. */
function methodOver(transport: Transport, route: Extract<Route, { as?: undefined }>) {
  return async (...given: readonly unknown[]): Promise<unknown> => {
    const count = route.route.match(parameters)?.length ?? 0;
    const takesWish = route.body !== undefined || route.query !== undefined;
    const [wish = {}, options = {}] = takesWish ? given.slice(count) : [undefined, given[count]];
    const isSent = /^(POST|PUT)$/.test(methodOf(route));
    const answer = await transport.ask(route, {
      params: given.slice(0, count) as string[],
      ...(isSent ? { body: wish } : { query: wish as object }),
      ...(options as Sending),
    });
    return route.unwrap === undefined ? answer : answer[route.unwrap];
  };
}
