import { createHash, randomBytes } from "node:crypto";

/**
 * Who is let in by a link. A visit is a browser's time with the dashboard.
 *
 * 1. A code is good for one visit, within `codeMs`; used, late and invented codes are told apart by nobody.
 * 2. A visit ends when it is left, after `visitMs`, or with the daemon; its `over` tells when.
 * 3. Codes and secrets are kept as hashes and in memory alone.
 * 4. Wrong codes are counted, and past a few a minute they are refused for a while. A right one is never: 32 random
 *    bytes cannot be guessed, so nobody can lock the owner out.
 */
export interface Visits {
  issue(actor: string): { readonly code: string; readonly expiresInSeconds: number };
  enter(code: string): Entrance;
  find(secret: string): Visit | undefined;
  leave(secret: string): void;
}

export interface Visit {
  readonly actor: string;
  readonly over: AbortSignal;
}

export type Entrance =
  | { readonly kind: "entered"; readonly secret: string }
  | { readonly kind: "refused" }
  | { readonly kind: "throttled" };

const codeMs = 60_000;
export const visitMs = 12 * 3_600_000;
const wrongCodesAMinute = 10;

export function openVisits(now: () => number): Visits {
  const codes = new Map<string, { readonly actor: string; readonly ends: number }>();
  const visits = new Map<string, Visit & { readonly ends: number; readonly left: AbortController }>();
  let wrong: readonly number[] = [];

  return {
    issue(actor) {
      forgetEnded(codes, now());
      const code = randomSecret();
      codes.set(hashed(code), { actor, ends: now() + codeMs });
      return { code, expiresInSeconds: codeMs / 1000 };
    },

    enter(code) {
      const issued = taken(codes, hashed(code), now());
      return issued === undefined ? refuse() : { kind: "entered", secret: begin(issued.actor) };
    },

    find(secret) {
      const visit = visits.get(hashed(secret));
      return visit === undefined || visit.ends <= now() ? undefined : visit;
    },

    leave(secret) {
      taken(visits, hashed(secret), now())?.left.abort();
    },
  };

  function begin(actor: string): string {
    forgetEnded(visits, now());
    const secret = randomSecret();
    const left = new AbortController();
    const over = AbortSignal.any([left.signal, AbortSignal.timeout(visitMs)]);
    visits.set(hashed(secret), { actor, ends: now() + visitMs, left, over });
    return secret;
  }

  function refuse(): Entrance {
    wrong = [...wrong.filter((time) => time > now() - 60_000), now()].slice(-wrongCodesAMinute - 1);
    return { kind: wrong.length > wrongCodesAMinute ? "throttled" : "refused" };
  }
}

function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

function hashed(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

/** Takes it out, whether its time is up or not. */
function taken<T extends { readonly ends: number }>(from: Map<string, T>, key: string, now: number): T | undefined {
  const found = from.get(key);
  from.delete(key);
  return found === undefined || found.ends <= now ? undefined : found;
}

function forgetEnded(all: Map<string, { readonly ends: number }>, now: number): void {
  for (const [key, { ends }] of all) if (ends <= now) all.delete(key);
}
