import { Readable } from "node:stream";
import { type ArtifactView, CorralError, type ShellId } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { FastifyReply } from "fastify";
import {
  type FindsSessions,
  type FindsShells,
  type Handlers,
  knownSession,
  knownShell,
  missing,
  type Principal,
  principalOf,
  seenShell,
  type Sight,
} from "../routing/index.ts";
import type { Part } from "../storage/index.ts";
import type { Artifacts } from "./port.ts";

interface Needs {
  readonly artifacts: Pick<Artifacts, "list" | "find" | "read">;
  readonly sessions: FindsSessions;
  readonly shells: FindsShells;
  readonly sight: Sight;
}

export function artifactRoutes(needs: Needs): Handlers<RoutesOf<"artifacts">> {
  const { artifacts, sessions } = needs;
  return {
    async "sessions.artifacts"(request) {
      const { id } = request.params;
      await knownSession(sessions, id);
      return { artifacts: [...(await artifacts.list(id))] };
    },

    async "shells.artifacts"(request) {
      const { id } = request.params;
      await knownShell(needs, principalOf(request), id);
      return { artifacts: [...(await artifacts.list(id))] };
    },

    "artifacts.get": (request) => known(needs, principalOf(request), request.params.id),

    async "artifacts.read"(request, reply) {
      const view = await known(needs, principalOf(request), request.params.id);
      return send(needs, view, request.headers.range, reply);
    },
  };
}

/** What is out of a token's sight is not there. */
async function known(needs: Needs, who: Principal, id: ArtifactView["id"]): Promise<ArtifactView> {
  const view = await needs.artifacts.find(id);
  if (view === undefined || !(await sees(needs, who, view))) throw missing("artifact", id);
  return view;
}

async function sees(needs: Needs, who: Principal, { owner }: ArtifactView): Promise<boolean> {
  if (isShell(owner)) return (await seenShell(needs, who, owner)) !== undefined;
  return needs.sight.session(who, owner);
}

function isShell(owner: ArtifactView["owner"]): owner is ShellId {
  return owner.startsWith("shl_");
}

function send({ artifacts }: Needs, view: ArtifactView, range: string | undefined, reply: FastifyReply): FastifyReply {
  const { id, bytes, digest } = view;
  const part = partOf(range, bytes);
  if (part === "unsatisfiable") throw beyond(bytes, reply);
  const { from = 0, to = bytes } = part ?? {};
  if (part !== undefined) void reply.code(206).header("content-range", `bytes ${from}-${to - 1}/${bytes}`);
  if (digest !== undefined) void reply.header("etag", `"${digest}"`);
  return reply
    .headers({
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${view.name.replaceAll(/[^\w.-]+/g, "_")}"`,
      "content-length": to - from,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      "cache-control": "no-store",
    })
    .send(Readable.from(artifacts.read(id, { from, to }), { objectMode: false }));
}

/** One range is honoured; what is no such range is as if it were not there. */
export function partOf(range: string | undefined, bytes: number): Part | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  const from = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === "" || last === "" ? bytes : Math.min(bytes, Number(last) + 1);
  return from < to ? { from, to } : "unsatisfiable";
}

function beyond(bytes: number, reply: FastifyReply): CorralError {
  void reply.header("content-range", `bytes */${bytes}`);
  return new CorralError("request.range", `There are ${bytes} bytes, and none where the range asks for them.`);
}
