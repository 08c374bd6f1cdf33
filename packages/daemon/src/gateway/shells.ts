import {
  closedShell,
  commandId,
  commandNews,
  type CommandView,
  commandView,
  covers,
  type EnvironmentKind,
  interruptShell,
  openShellWish,
  shellId,
  shellInterruptAnswer,
  shellList,
  shellView,
  type ShellView,
  startCommand,
} from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { OutputRange } from "../shells/index.ts";
import { isBounded, type Principal } from "../tokens/index.ts";
import { tooNarrow } from "./access.ts";
import { missing } from "./bounds.ts";
import { carryCommand } from "./command-stream.ts";
import type { RouteParts, Routes } from "./routes.ts";
import { principalOf } from "./tokens.ts";

export const shellParams = z.object({ id: shellId });
const commandParams = z.object({ id: shellId, command: commandId });
const commandQuery = z.object({
  wait: z.coerce.number().pipe(z.int().min(0).max(60)).default(0).describe("seconds to wait for its end"),
  follow: z.enum(["0", "1"]).default("0").describe("1: its output as it comes, as server-sent events"),
});

export const shellRoutes: Routes = (app, parts) => {
  const { shells, secrets } = parts;
  const tags = ["shells"];

  app.post(
    "/api/shells",
    { schema: { tags, summary: "Opens a shell", body: openShellWish, response: { 201: shellView } } },
    async (request, reply) => {
      const who = principalOf(request);
      requireOperator(who, request.body.environment.kind);
      if (!sees(parts, who, request.body)) throw missing("project", request.body.projectId);
      return reply.code(201).send(await shells.open(request.body, request.by, request.newId("shell")));
    },
  );

  app.get("/api/shells", { schema: { tags, response: { 200: shellList } } }, async (request) => {
    const all = await shells.list();
    return { shells: all.filter((shell) => sees(parts, principalOf(request), shell)) };
  });

  app.get("/api/shells/:id", { schema: { tags, params: shellParams, response: { 200: shellView } } }, (request) =>
    knownShell(parts, request),
  );

  app.delete(
    "/api/shells/:id",
    {
      schema: {
        tags,
        summary: "Ends a shell; its files go unless something in them would be lost that git does not ignore",
        params: shellParams,
        response: { 200: closedShell },
      },
    },
    async (request) => shells.close((await knownShell(parts, request)).id, request.by),
  );

  app.post(
    "/api/shells/:id/commands",
    {
      schema: {
        tags,
        summary: "Starts a command; sent again with its id, it is the same one",
        params: shellParams,
        body: startCommand,
        response: { 202: commandView },
      },
    },
    async (request, reply) => {
      const { id, environment } = await knownShell(parts, request);
      requireOperator(principalOf(request), environment.kind);
      return reply.code(202).send(await shells.start(id, request.body, request.by));
    },
  );

  app.get(
    "/api/shells/:id/commands/:command",
    {
      schema: {
        tags,
        summary: "How a command stands",
        description:
          "With follow=1 the answer is text/event-stream: messages with `output` from the command's beginning on, and last " +
          "one with the `command` as it ended. A stream that breaks off before can be asked for again.",
        params: commandParams,
        querystring: commandQuery,
        response: {
          200: {
            description: "The command, or with follow=1 a stream of news about it",
            content: { "application/json": { schema: commandView }, "text/event-stream": { schema: commandNews } },
          },
        },
      },
    },
    async (request, reply) => {
      const { id } = await knownShell(parts, request);
      const { command } = request.params;
      const { wait, follow } = request.query;
      const now = await shells.look(id, command);
      if (follow === "0") return wait === 0 || now.state !== "running" ? now : waited(parts, id, command, wait);
      reply.hijack();
      const followed = {
        follow: (onOutput: () => void) => shells.follow(id, command, onOutput),
        read: (range: OutputRange) => shells.read(id, command, range),
      };
      carryCommand(reply.raw, followed, secrets);
      return reply;
    },
  );

  app.post(
    "/api/shells/:id/interrupt",
    { schema: { tags, params: shellParams, body: interruptShell, response: { 200: shellInterruptAnswer } } },
    async (request) => shells.interrupt((await knownShell(parts, request)).id, request.by, request.body.command),
  );
};

/** What has no walls is the owner's to give away: whoever can run something there can do all that the daemon's user can. */
export function requireOperator(who: Principal, kind: EnvironmentKind): void {
  if (kind === "local" && !covers(who.scope, "admin"))
    throw tooNarrow(`a local environment has no walls, so it needs the scope admin; yours is ${who.scope}`);
}

export async function knownShell(
  parts: RouteParts,
  request: FastifyRequest<{ Params: { id: ShellView["id"] } }>,
): Promise<ShellView> {
  const shell = await seenShell(parts, principalOf(request), request.params.id);
  if (shell === undefined) throw missing("shell", request.params.id);
  return shell;
}

/** Nothing where the principal may not look. */
export async function seenShell(
  parts: RouteParts,
  who: Principal,
  id: ShellView["id"],
): Promise<ShellView | undefined> {
  const shell = await parts.shells.get(id);
  return shell !== undefined && sees(parts, who, shell) ? shell : undefined;
}

function sees({ sight }: RouteParts, who: Principal, { projectId }: Pick<ShellView, "projectId">): boolean {
  return !isBounded(who) || (projectId !== undefined && sight.project(who, projectId));
}

async function waited(
  { shells }: RouteParts,
  id: ShellView["id"],
  command: CommandView["id"],
  seconds: number,
): Promise<CommandView> {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, seconds * 1000);
  const end = shells.follow(id, command, () => undefined);
  await Promise.race([end, enough]).finally(() => clearTimeout(timer));
  return shells.look(id, command);
}
