import { CorralError } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Handlers, principalOf } from "../../routing/index.ts";
import { cookieName, visitSecret } from "./cookie.ts";
import { visitMs, type Visits } from "./visits.ts";

interface Needs {
  readonly visits: Visits;
}

export function loginRoutes({ visits }: Needs): Handlers<RoutesOf<"login">> {
  return {
    "login.issue": (request) => visits.issue(principalOf(request)),

    "login.enter"(request, reply) {
      const entrance = visits.enter(request.body.code);
      if (entrance.kind !== "entered") throw entrance.kind === "refused" ? wrongCode() : tooManyCodes();
      setCookie(request, reply, entrance.secret, visitMs / 1000);
      return { kind: "logged-in" };
    },

    "login.leave"(request, reply) {
      const secret = visitSecret(request);
      if (secret !== undefined) visits.leave(secret);
      setCookie(request, reply, "", 0);
      return { kind: "logged-out" };
    },
  };
}

function setCookie(
  request: Pick<FastifyRequest, "headers">,
  reply: FastifyReply,
  secret: string,
  seconds: number,
): void {
  const cookie = `${cookieName(request)}=${secret}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict`;
  void reply.header("set-cookie", cookie).header("cache-control", "no-store");
}

function wrongCode(): CorralError {
  return new CorralError("auth.missing", "This link does not let anyone in: it was used, or is older than a minute", {
    hint: "`corral dashboard` prints a new one",
  });
}

function tooManyCodes(): CorralError {
  return new CorralError("login.throttled", "Too many wrong codes", {
    retry: "later",
    hint: "`corral dashboard` prints a link with a right one",
  });
}
