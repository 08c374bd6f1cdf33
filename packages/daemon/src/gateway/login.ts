import { CorralError, enterLogin, loginAnswer, loginCode, logoutAnswer } from "@corral/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { requireOwnOrigin } from "./origin.ts";
import type { Routes } from "./routes.ts";
import { principalOf } from "./tokens.ts";
import { visitMs } from "./visits.ts";
import { cookieName, visitSecret } from "./cookie.ts";

export const loginRoutes: Routes = (app, { visits }) => {
  const tags = ["login"];

  app.post(
    "/api/login/codes",
    { config: { secret: true }, schema: { tags, body: z.object({}), response: { 201: loginCode } } },
    async (request, reply) => reply.code(201).send(visits.issue(principalOf(request))),
  );

  app.post(
    "/api/login",
    {
      config: { takesSecrets: true },
      onRequest: async (request) => requireOwnOrigin(request),
      schema: { tags, body: enterLogin, response: { 200: loginAnswer } },
    },
    async (request, reply) => {
      const entrance = visits.enter(request.body.code);
      if (entrance.kind !== "entered") throw entrance.kind === "refused" ? wrongCode() : tooManyCodes();
      return setCookie(request, reply, entrance.secret, visitMs / 1000).send({ kind: "logged-in" });
    },
  );

  app.post(
    "/api/logout",
    { schema: { tags, body: z.object({}), response: { 200: logoutAnswer } } },
    async (request, reply) => {
      const secret = visitSecret(request);
      if (secret !== undefined) visits.leave(secret);
      return setCookie(request, reply, "", 0).send({ kind: "logged-out" });
    },
  );
};

function setCookie(request: FastifyRequest, reply: FastifyReply, secret: string, seconds: number): FastifyReply {
  const cookie = `${cookieName(request)}=${secret}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict`;
  return reply.header("set-cookie", cookie).header("cache-control", "no-store");
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
