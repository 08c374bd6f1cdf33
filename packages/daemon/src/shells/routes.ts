import type { CommandView, ShellId, ShellView } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { FastifyReply } from "fastify";
import {
  type Handlers,
  knownShell,
  missing,
  principalOf,
  type RequestOf,
  requireOperator,
  seesShell,
  type Sight,
} from "../routing/index.ts";
import type { OutputRange, Shells } from "./shells.ts";

interface Needs {
  readonly shells: Shells;
  readonly sight: Sight;
  /** Sends news of a command, until it has ended, as the answer. */
  readonly carryCommand: (reply: FastifyReply, command: FollowedCommand) => void;
}

/** One command, as a client follows it. */
export interface FollowedCommand {
  /** Resolves with its end; calls back when there is more to read. */
  follow(onOutput: () => void): Promise<CommandView>;
  read(range: OutputRange): Promise<Buffer>;
}

export function shellRoutes(needs: Needs): Handlers<RoutesOf<"shells">> {
  const { shells, sight, carryCommand } = needs;
  return {
    async "shells.open"(request) {
      const who = principalOf(request);
      requireOperator(who, request.body.environment.kind);
      if (!seesShell(sight, who, request.body)) throw missing("project", request.body.projectId);
      return shells.open(request.body, request.by, request.newId("shell"));
    },

    async "shells.list"(request) {
      const all = await shells.list();
      return { shells: all.filter((shell) => seesShell(sight, principalOf(request), shell)) };
    },

    "shells.get": (request) => known(request),

    "shells.close": async (request) => shells.close((await known(request)).id, request.by),

    async "shells.start"(request) {
      const { id, environment } = await known(request);
      requireOperator(principalOf(request), environment.kind);
      return shells.start(id, request.body, request.by);
    },

    async "shells.look"(request, reply) {
      const { id } = await known(request);
      const { command } = request.params;
      const { wait, follow } = request.query;
      const now = await shells.look(id, command);
      if (follow === "0") return wait === 0 || now.state !== "running" ? now : waited(shells, now, wait);
      carryCommand(reply, {
        follow: (onOutput) => shells.follow(id, command, onOutput),
        read: (range) => shells.read(id, command, range),
      });
      return reply;
    },

    "shells.interrupt": async (request) =>
      shells.interrupt((await known(request)).id, request.by, request.body.command),
  };

  function known(request: Pick<RequestOf<"shells.get">, "params" | "principal">): Promise<ShellView> {
    return knownShell(needs, principalOf(request), request.params.id);
  }
}

async function waited(
  shells: Shells,
  { shell, id }: { readonly shell: ShellId; readonly id: CommandView["id"] },
  seconds: number,
): Promise<CommandView> {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, seconds * 1000);
  const end = shells.follow(shell, id, () => undefined);
  await Promise.race([end, enough]).finally(() => clearTimeout(timer));
  return shells.look(shell, id);
}
