import { CorralError, covers, type Scope } from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { isBounded } from "../tokens/index.ts";
import type { App } from "./routes.ts";

/**
 * How a route minds the bounds of a token.
 *
 * - `any`: it tells nothing of what is in the log.
 * - `whole`: it concerns everything, so a token with bounds is refused.
 * - `session`, `project`: its path names one by `:id`; outside of the bounds there is none.
 * - `project in body`: its body does, by `projectId`.
 * - `listed`: it lists sessions or projects, of which those outside are left out.
 * - `route`: the route minds them by itself.
 */
export type Reach = "any" | "whole" | "session" | "project" | "project in body" | "listed" | "route";

export type Access = "open" | readonly [Scope, Reach];

/** Who may do what: the one table. A route that is not in it keeps the gateway from opening. */
export const access: Readonly<Record<string, Access>> = {
  "GET /": "open",
  "GET /assets/*": "open",
  "GET /healthz": "open",
  "GET /metrics": ["read", "whole"],
  "GET /api/openapi.json": ["read", "any"],
  "GET /api/status": ["read", "whole"],
  "GET /api/doctor": ["read", "whole"],
  "POST /api/daemon/stop": ["admin", "whole"],
  "POST /api/backups": ["admin", "whole"],

  "POST /api/login": "open",
  "POST /api/login/codes": ["read", "any"],
  "POST /api/logout": ["read", "any"],

  "GET /api/tokens": ["read", "route"],
  "POST /api/tokens": ["operate", "route"],
  "POST /api/tokens/:id/revoke": ["operate", "route"],

  "GET /api/projects": ["read", "listed"],
  "POST /api/projects": ["admin", "whole"],
  "POST /api/projects/:id/forget": ["admin", "project"],
  "GET /api/projects/:id/trust": ["read", "project"],
  "POST /api/projects/:id/trust": ["admin", "project"],

  "GET /api/config": ["read", "whole"],
  "PUT /api/config": ["admin", "whole"],
  "POST /api/config/upgrade": ["admin", "whole"],

  "GET /api/models": ["read", "whole"],
  "GET /api/usage": ["read", "whole"],
  "GET /api/credentials": ["read", "whole"],
  "PUT /api/credentials/:provider": ["admin", "whole"],
  "DELETE /api/credentials/:provider": ["admin", "whole"],
  "POST /api/credentials/:provider/test": ["admin", "whole"],

  "GET /api/network": ["read", "route"],

  "GET /api/rules": ["read", "whole"],
  "POST /api/rules/check": ["read", "whole"],
  "GET /api/rules/kept": ["read", "whole"],
  "DELETE /api/rules/kept/:id": ["operate", "whole"],

  "GET /api/audit": ["read", "route"],
  "GET /api/audit/entries/:id": ["read", "route"],
  "GET /api/audit/head": ["read", "any"],
  "GET /api/audit/verify": ["read", "whole"],

  "GET /api/sessions": ["read", "listed"],
  "POST /api/sessions": ["prompt", "project in body"],
  "POST /api/sessions/begin": ["prompt", "project in body"],
  "GET /api/sessions/:id": ["read", "session"],
  "DELETE /api/sessions/:id": ["admin", "session"],
  "GET /api/sessions/search": ["read", "route"],
  "GET /api/sessions/:id/inputs": ["read", "session"],
  "POST /api/sessions/:id/inputs": ["prompt", "session"],
  "POST /api/sessions/:id/attachments": ["prompt", "session"],
  "POST /api/sessions/:id/inputs/:input": ["prompt", "session"],
  "POST /api/sessions/:id/queue": ["prompt", "session"],
  "POST /api/sessions/:id/continue": ["prompt", "session"],
  "POST /api/sessions/:id/rename": ["prompt", "session"],
  "POST /api/sessions/:id/archive": ["operate", "session"],
  "POST /api/sessions/:id/unarchive": ["operate", "session"],
  "POST /api/sessions/:id/interrupt": ["prompt", "session"],
  "POST /api/sessions/:id/recovery": ["operate", "session"],
  "GET /api/sessions/:id/diff": ["read", "session"],
  "POST /api/sessions/:id/bring-back": ["operate", "session"],
  "POST /api/sessions/:id/merge": ["operate", "session"],
  "POST /api/sessions/:id/discard": ["operate", "session"],
  "POST /api/sessions/:id/setup": ["prompt", "session"],
  "GET /api/sessions/:id/artifacts": ["read", "session"],
  "GET /api/shells/:id/artifacts": ["read", "route"],
  "GET /api/artifacts/:id": ["read", "route"],
  "GET /api/artifacts/:id/content": ["read", "route"],
  "GET /api/sessions/:id/snapshots": ["read", "session"],
  "POST /api/sessions/:id/snapshots": ["operate", "session"],

  // Approvals, and hosts to be reached, need the scope operate.
  "GET /api/questions": ["read", "route"],
  "GET /api/questions/:id": ["read", "route"],
  "POST /api/questions/:id/answer": ["prompt", "route"],
  "POST /api/questions/:id/cancel": ["prompt", "route"],

  "GET /api/shells/:id/snapshots": ["read", "route"],
  "POST /api/shells/:id/snapshots": ["operate", "route"],
  "GET /api/snapshots/:id": ["read", "route"],
  "GET /api/snapshots/:id/diff": ["read", "route"],
  "POST /api/snapshots/:id/restore": ["operate", "route"],

  // Those in a local environment need more: what has no walls is for admins.
  "GET /api/shells": ["read", "route"],
  "POST /api/shells": ["operate", "route"],
  "GET /api/shells/:id": ["read", "route"],
  "DELETE /api/shells/:id": ["operate", "route"],
  "POST /api/shells/:id/commands": ["operate", "route"],
  "GET /api/shells/:id/commands/:command": ["read", "route"],
  "POST /api/shells/:id/interrupt": ["operate", "route"],
  "GET /api/shells/:id/terminals": ["read", "route"],
  "POST /api/shells/:id/terminals": ["operate", "route"],
  "GET /api/shells/:id/terminals/:terminal": ["read", "route"],
  "DELETE /api/shells/:id/terminals/:terminal": ["operate", "route"],
  "GET /api/shells/:id/terminals/:terminal/scrollback": ["read", "route"],
  "GET /api/shells/:id/terminals/:terminal/stream": ["operate", "route"],

  "GET /api/terminals": ["read", "route"],
  "GET /api/sessions/:id/terminals": ["read", "session"],
  "POST /api/sessions/:id/terminals": ["operate", "session"],
  "GET /api/sessions/:id/terminals/:terminal": ["read", "session"],
  "DELETE /api/sessions/:id/terminals/:terminal": ["operate", "session"],
  "GET /api/sessions/:id/terminals/:terminal/scrollback": ["read", "session"],
  "GET /api/sessions/:id/terminals/:terminal/stream": ["operate", "session"],

  "GET /api/events": ["read", "route"],
  "GET /api/sessions/:id/events": ["read", "session"],
  "GET /api/stream": ["read", "route"],
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answered without a token. Whatever does not say so needs one. */
    open?: boolean;
    scope?: Scope;
    reach?: Reach;
    /** The answer holds a secret, so it is not kept. */
    secret?: boolean;
    /** What it is given may hold a secret: none of it goes on record. */
    takesSecrets?: boolean;
    /** Done again it does nothing twice, and its answer repeats a person's words, which are its stream's alone to keep. */
    repeatable?: boolean;
  }
}

/** Gives every route its entry of the table. */
export function mindAccess(app: App): void {
  app.addHook("onRoute", (route) => {
    const found = accessOf(String(route.method), route.url);
    const [scope, reach] = found === "open" ? [undefined, "any" as const] : found;
    route.config = { ...route.config, open: found === "open", ...(scope === undefined ? {} : { scope }), reach };
  });
}

/** After it is known who asks. */
export function requireScope({ routeOptions, principal }: FastifyRequest): void {
  const { scope, reach } = routeOptions.config;
  if (scope === undefined || principal === undefined) return;
  if (!covers(principal.scope, scope)) throw tooNarrow(`this needs the scope ${scope}, yours is ${principal.scope}`);
  if (reach === "whole" && isBounded(principal))
    throw tooNarrow("this concerns everything, and your token is for a part");
}

export function tooNarrow(why: string): CorralError {
  return new CorralError("auth.scope", `Your token does not reach so far: ${why}`, {
    hint: "`corral token create` makes one that does",
  });
}

function accessOf(method: string, url: string): Access {
  const found = access[`${method} ${url.startsWith("/assets/") ? "/assets/*" : url}`];
  if (found === undefined) throw new Error(`${method} ${url} has no entry in gateway/access.ts`);
  return found;
}
