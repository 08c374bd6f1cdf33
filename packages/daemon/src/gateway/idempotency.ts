import { createHash } from "node:crypto";
import { CorralError, event, type Id, type IdKind, isAbout, newId, type StoredEvent } from "@corral/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { By, Change, Log, Projection } from "../log/index.ts";
import type { Principal } from "../routing/index.ts";

/**
 * Requests that are done once, however often they are sent: those with an `Idempotency-Key`.
 *
 * 1. A person's key stands for one body. With another it is a conflict, as long as the key is remembered.
 * 2. `request.begun` is appended before the request is carried out and is durable before its answer leaves. It holds
 *    the end of the ids of what will be made, so that a request that was cut by a crash, sent again, makes the same.
 * 3. Answers that tell of success are kept and given again; those that arrive while the first is under way get its
 *    answer. A request that failed has done nothing and may be tried again.
 * 4. `keptRequests` are remembered, for `keptMs`. An answer that holds a secret is remembered by this process alone, and so
 *    is one that repeats a person's words: another process carries that request out again, which does nothing twice.
 */
export interface Requests {
  mind(app: FastifyInstance): void;
}

const keptRequests = 2000;
const keptMs = 24 * 3_600_000;
const stream = "requests";

export const requestProjections: readonly Projection[] = [
  {
    table: "requests",
    version: 1,
    columns: { body: "text", tail: "text", begun: "text", status: "integer", answer: "text", seq: "integer" },
    indexes: [["seq"]],
    changes,
  },
];

function changes(stored: StoredEvent): readonly Change[] {
  if (!isAbout("request", stored)) return [];
  switch (stored.type) {
    case "request.begun": {
      const { key, body, tail, forgets } = stored.data;
      const row = { body, tail, begun: stored.approximateCreationTime, status: null, answer: null, seq: stored.seq };
      return [...forgets.map((old): Change => ({ key: old, delete: true })), { key, set: row }];
    }
    case "request.answered":
      return [{ key: stored.data.key, set: { status: stored.data.status, answer: stored.data.answer } }];
  }
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set while the request is the first with its key. */
    once: Once | undefined;
  }
}

interface Answer {
  readonly status: number;
  readonly type: string;
  /** Null: it was a secret, told once. */
  readonly payload: string | null;
}

interface Once {
  readonly key: string;
  readonly tail: string;
  readonly durable: Promise<unknown>;
  readonly answered: (answer: Answer) => void;
}

interface Known {
  readonly body: string;
  readonly tail: string;
  readonly ends: number;
  /** Undefined: a crash cut it. */
  readonly answer: Promise<Answer> | undefined;
}

export async function openRequests(log: Pick<Log, "append" | "rows">, now: () => number): Promise<Requests> {
  const known = new Map<string, Known>();
  for (const row of await log.rows("requests", { orderBy: "seq" })) {
    const { body, tail, begun, status, answer } = row as Record<string, string>;
    const kept: Answer = { status: Number(status), type: json, payload: answer ?? null };
    const ends = Date.parse(begun ?? "") + keptMs;
    const told = status === null ? undefined : Promise.resolve(kept);
    known.set(row["key"] as string, { body: body ?? "", tail: tail ?? "", ends, answer: told });
  }

  return {
    mind(app) {
      app.decorateRequest("once", undefined);
      app.decorateRequest("newId", function <K extends IdKind>(this: FastifyRequest, kind: K): Id<K> {
        const fresh = newId(kind);
        return this.once === undefined ? fresh : (`${fresh.slice(0, fresh.indexOf("_"))}_${this.once.tail}` as Id<K>);
      });
      app.addHook("preHandler", async (request, reply) => {
        const given = request.headers["idempotency-key"];
        if (given === undefined || request.method !== "POST" || request.principal === undefined) return;
        const key = hashed(whose(request.principal, request), checked(given));
        const body = hashed(request.url.split("?", 1)[0] ?? "", JSON.stringify(request.body));
        const before = lookUp(key);
        if (before !== undefined && before.body !== body) throw conflict("it was used before, with another body");
        if (before?.answer !== undefined) return again(reply, await before.answer);
        request.once = begin(key, body, before?.tail ?? newId("token").slice("tok_".length), request.by);
        return undefined;
      });
      app.addHook("onSend", async (request, reply, payload) => {
        const { once } = request;
        if (once === undefined) return payload;
        request.once = undefined;
        await settle(once, request, reply, payload);
        return payload;
      });
    },
  };

  function lookUp(key: string): Known | undefined {
    const found = known.get(key);
    return found === undefined || found.ends <= now() ? undefined : found;
  }

  function begin(key: string, body: string, tail: string, by: By): Once {
    const answer = Promise.withResolvers<Answer>();
    known.delete(key);
    const forgets = [...known].slice(0, Math.max(0, known.size + 1 - keptRequests)).map(([old]) => old);
    for (const old of forgets) known.delete(old);
    known.set(key, { body, tail, ends: now() + keptMs, answer: answer.promise });
    // Not waited for: what the request itself appends comes after it, and may share its commit.
    const durable = log.append({ ...by, stream, events: [event("request.begun", { key, body, tail, forgets })] });
    durable.catch(() => undefined);
    return { key, tail, durable, answered: answer.resolve };
  }

  async function settle(once: Once, request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> {
    const { key, durable } = once;
    const told = typeof payload === "string" ? payload : "";
    const { statusCode: status } = reply;
    const answer = { status, type: String(reply.getHeader("content-type") ?? json), payload: told };
    try {
      // What failed is not remembered, and may have failed for the very reason that keeps this from the disk.
      if (status >= 300) known.delete(key);
      else {
        await durable;
        await remember(key, request, answer);
      }
    } catch (error) {
      known.delete(key);
      once.answered({ ...answer, payload: null });
      throw error;
    }
    once.answered(answer);
  }

  async function remember(key: string, { by, routeOptions }: FastifyRequest, { status, payload }: Answer) {
    if (routeOptions.config.repeatable === true) return;
    const answer = routeOptions.config.secret === true ? null : payload;
    await log.append({ ...by, stream, events: [event("request.answered", { key, status, answer })] });
  }
}

/** A person's; where the answer is a secret, of one token alone, so that none gets what was made with a wider one. */
function whose({ person, token }: Principal, { routeOptions }: FastifyRequest): string {
  return routeOptions.config.secret === true ? `${person} ${token ?? ""}` : person;
}

const json = "application/json; charset=utf-8";

function again(reply: FastifyReply, { status, type, payload }: Answer): FastifyReply {
  if (payload === null) throw conflict("its answer held a secret, which is told once");
  return reply
    .code(status)
    .type(type)
    .header("idempotent-replayed", "true")
    .serializer((encoded) => String(encoded))
    .send(payload);
}

function checked(key: string | readonly string[]): string {
  if (typeof key === "string" && /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new CorralError("request.invalid", "Idempotency-Key must be 1 to 200 visible characters", {
    hint: "A random UUID does",
  });
}

function conflict(why: string): CorralError {
  return new CorralError("idempotency.conflict", `This Idempotency-Key cannot be used: ${why}`, {
    hint: "Use a new key for a new request",
  });
}

function hashed(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest("base64url");
}
