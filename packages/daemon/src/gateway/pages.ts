import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { RoutesOf } from "@corral/protocol/routes";
import type { FastifyReply } from "fastify";
import type { Handlers } from "../routing/index.ts";
import { unknownRoute } from "./problem.ts";

/** The dashboard as it is sent: everything there is, by its path. */
export type Pages = ReadonlyMap<string, Page>;

interface Page {
  readonly type: string;
  readonly caching: string;
  readonly body: Buffer;
}

/**
 * Reads the built dashboard into memory, so that later no request touches the disk, whatever its path says. Without
 * one there is a page that tells how to build it.
 */
export function readPages(folder: string): Pages {
  try {
    const assets = readdirSync(join(folder, "assets")).filter((name) => /^[\w.-]+$/.test(name) && typeOf(name));
    return new Map([
      ["/", page(readFileSync(join(folder, "index.html")))],
      ...assets.map((name): [string, Page] => [`/assets/${name}`, asset(join(folder, "assets", name))]),
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return new Map([["/", page(Buffer.from(notBuilt))]]);
  }
}

export function pageRoutes({ pages }: { readonly pages: Pages }): Handlers<RoutesOf<"pages">> {
  return {
    "pages.home": (request, reply) => send(request.method, pages.get("/"), reply),
    "pages.asset": (request, reply) => {
      const { "*": name } = request.params as { "*": string };
      return send(request.method, pages.get(`/assets/${name}`), reply);
    },
  };
}

function send(method: string, page: Page | undefined, reply: FastifyReply): FastifyReply {
  if (page === undefined) throw unknownRoute(method);
  const { type, caching, body } = page;
  return reply.headers({ ...walls, "content-type": type, "cache-control": caching }).send(body);
}

/** A page made of the daemon's own scripts and styles, that talks to the daemon alone and stands in nobody's frame. */
const walls = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

function page(body: Buffer): Page {
  return { type: "text/html; charset=utf-8", caching: "no-store", body };
}

/** Its name holds a hash of its content, so it never changes. */
function asset(file: string): Page {
  const body = readFileSync(file);
  return { type: typeOf(file) ?? "", caching: "public, max-age=31536000, immutable", body };
}

function typeOf(name: string): string | undefined {
  return { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" }[extname(name)];
}

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corral</title>
<h1>The dashboard is not built</h1>
<p>Run <code>npm run build</code> in Corral's checkout, then <code>corral stop</code> and <code>corral dashboard</code>.</p>
</html>
`;
