import type { AnswerOf, RouteName, Routes, Taken } from "@corral/protocol/routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";

/** What answers routes, by their names in the table. Slices give theirs to the gateway, which opens only with all of them. */
export type Handlers<N extends RouteName> = { readonly [K in N]: Handler<K> };

/** A request of the route, as far as its schemas have read it. */
export type RequestOf<N extends RouteName> = FastifyRequest<Taken<N>>;

export type Handler<N extends RouteName> = Routes[N] extends { readonly as: "socket" }
  ? SocketHandler<N>
  : Routes[N] extends { readonly as: string }
    ? Sends<N>
    : Answers<N>;

/** Returns the answer, which has the status that the table says; where it says two, the handler sets it. */
type Answers<N extends RouteName> = (
  request: RequestOf<N>,
  reply: FastifyReply,
) => AnswerOrStream<N> | Promise<AnswerOrStream<N>>;

/** One that may be followed may also send a stream by itself. */
type AnswerOrStream<N extends RouteName> =
  | AnswerOf<N>
  | (Routes[N] extends { readonly followed: string } ? FastifyReply : never);

/** Sends what is no JSON by itself. */
type Sends<N extends RouteName> = (request: RequestOf<N>, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

export interface SocketHandler<N extends RouteName> {
  open(socket: WebSocket, request: RequestOf<N>): void;
  /** Asked without a WebSocket: throws what is wrong with that. */
  plain(request: RequestOf<N>): never | Promise<never>;
}
