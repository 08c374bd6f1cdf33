import type * as schemas from "../schemas.ts";
import type { Scope } from "../token.ts";

export type Schemas = typeof schemas;

/** The name of a schema, as `schemas.ts` exports it. So the table is plain data, and whoever needs no schemas loads none. */
export type SchemaName = {
  [N in keyof Schemas]: Schemas[N] extends { readonly _zod: unknown } ? N : never;
}[keyof Schemas];

/**
 * How a route minds the bounds of a token.
 *
 * - `any`: it tells nothing of what is in the log.
 * - `whole`: it concerns everything, so a token with bounds is refused.
 * - `session`, `project`: its path names one by `:id`; outside of the bounds there is none.
 * - `project in body`: its body does, by `projectId`.
 * - `listed`: it lists sessions or projects, of which those outside are left out.
 * - `route`: its handler minds them.
 */
export type Reach = "any" | "whole" | "session" | "project" | "project in body" | "listed" | "route";

/** One route of the daemon's API, as data. */
export type Route = Asked & (Open | Guarded) & (AnswersJson | AnswersElse);

/** Routes by their names. The name is also the SDK's: `questions.answer` is `client.questions.answer`. */
export type RouteTable = Readonly<Record<string, Route>>;

interface Asked {
  readonly route: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  /** One sentence. */
  readonly about: string;
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, SchemaName>>;
  readonly query?: SchemaName;
  /** Without one, a POST takes an empty object. */
  readonly body?: SchemaName;
  /** The most bytes of a body, where that is more than usual. */
  readonly bodyLimit?: number;
  /** The body may hold a secret: none of it goes on record. */
  readonly takesSecrets?: true;
  /** Only pages of the daemon itself may ask it. */
  readonly fromOwnPages?: true;
  /** The answer holds a secret, so it is not kept. */
  readonly secret?: true;
  /** Done again it does nothing twice, and its answer repeats a person's words, which are its stream's alone to keep. */
  readonly repeatable?: true;
}

/** Answered without a token. */
interface Open {
  readonly access: "open";
}

interface Guarded {
  readonly scope: Scope;
  readonly reach: Reach;
}

interface AnswersJson {
  readonly as?: undefined;
  readonly answer: SchemaName;
  /** Of a good answer; without: 200. Where there are two, the handler says which. */
  readonly status?: 201 | 202 | readonly [200, 202];
  /** The field of the answer that the SDK's method resolves with. */
  readonly unwrap?: string;
  /** With `follow=1` the answer is a stream of server-sent events, of which this is one. */
  readonly followed?: SchemaName;
}

/** No method of the SDK is made from these. */
interface AnswersElse {
  /** `hidden`: not in the OpenAPI document. */
  readonly as: "text" | "bytes" | "socket" | "hidden";
  /** Of a socket: its messages. */
  readonly answer?: SchemaName;
}
