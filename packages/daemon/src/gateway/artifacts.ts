import { Readable } from "node:stream";
import {
  artifactId,
  artifactList,
  type ArtifactView,
  artifactView,
  CorralError,
  type ShellId,
  shellId,
} from "@corral/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Principal } from "../tokens/index.ts";
import type { Part } from "../storage/index.ts";
import { missing } from "./bounds.ts";
import type { RouteParts, Routes } from "./routes.ts";
import { sessionParams } from "./sessions.ts";
import { knownShell, seenShell } from "./shells.ts";
import { principalOf } from "./tokens.ts";

const artifactParams = z.object({ id: artifactId });

export const artifactRoutes: Routes = (app, parts) => {
  const { artifacts } = parts;
  const tags = ["artifacts"];

  app.get(
    "/api/sessions/:id/artifacts",
    {
      schema: {
        tags,
        description: "The files that came out of the session's work, in the order they began.",
        params: sessionParams,
        response: { 200: artifactList },
      },
    },
    async (request) => {
      const { id } = request.params;
      if ((await parts.sessions.get(id)) === undefined) throw missing("session", id);
      return { artifacts: [...(await artifacts.list(id))] };
    },
  );

  app.get(
    "/api/shells/:id/artifacts",
    { schema: { tags, params: z.object({ id: shellId }), response: { 200: artifactList } } },
    async (request) => ({ artifacts: [...(await artifacts.list((await knownShell(parts, request)).id))] }),
  );

  app.get(
    "/api/artifacts/:id",
    { schema: { tags, params: artifactParams, response: { 200: artifactView } } },
    (request) => known(parts, request),
  );

  app.get(
    "/api/artifacts/:id/content",
    {
      schema: {
        tags,
        description:
          "Its bytes, to be saved and never shown as a page; of one that grows, those up to now. A Range of bytes is honoured. " +
          "An answer that is shorter than it says was cut off, since what is stored is damaged.",
        params: artifactParams,
        response: {
          200: { description: "The bytes", content: { "application/octet-stream": { schema: z.string() } } },
        },
      },
    },
    async (request, reply) => send(parts, await known(parts, request), request.headers.range, reply),
  );
};

/** What is out of a token's sight is not there. */
async function known(
  parts: RouteParts,
  request: FastifyRequest<{ Params: z.infer<typeof artifactParams> }>,
): Promise<ArtifactView> {
  const view = await parts.artifacts.find(request.params.id);
  if (view === undefined || !(await sees(parts, principalOf(request), view)))
    throw missing("artifact", request.params.id);
  return view;
}

async function sees(parts: RouteParts, who: Principal, { owner }: ArtifactView): Promise<boolean> {
  if (isShell(owner)) return (await seenShell(parts, who, owner)) !== undefined;
  return parts.sight.session(who, owner);
}

function isShell(owner: ArtifactView["owner"]): owner is ShellId {
  return owner.startsWith("shl_");
}

function send({ artifacts }: RouteParts, view: ArtifactView, range: string | undefined, reply: FastifyReply) {
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
