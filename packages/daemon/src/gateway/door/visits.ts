import { createHash, randomBytes } from "node:crypto";
import type { Principal } from "../../routing/index.ts";

/**
 * Who is let in by a link. A visit is a browser's time with the dashboard.
 *
 * 1. A code is good for one visit, within `codeMs`; used, late and invented codes are told apart by nobody.
 * 2. A visit is its host's: of the same person, within the same scope and bounds. It ends when it is left, after
 *    `visitMs`, with the daemon, or with what its host was let in by; its `over` tells when.
 * 3. Codes and secrets are kept as hashes and in memory alone.
 * 4. Wrong codes are counted, and past a few a minute they are refused for a while. A right one is never: 32 random
 *    bytes cannot be guessed, so nobody can lock the owner out.
 */
export interface Visits {
  issue(host: Principal): { readonly code: string; readonly expiresInSeconds: number };
  enter(code: string): Entrance;
  find(secret: string): Visit | undefined;
  leave(secret: string): void;
}

export type Visit = Principal & { readonly over: AbortSignal };

export type Entrance =
  | { readonly kind: "entered"; readonly secret: string }
  | { readonly kind: "refused" }
  | { readonly kind: "throttled" };

const codeMs = 60_000;
export const visitMs = 12 * 3_600_000;
const wrongCodesAMinute = 10;

export function openVisits(now: () => number): Visits {
  const codes = new Map<string, { readonly host: Principal; readonly ends: number }>();
  const visits = new Map<string, { readonly visit: Visit; readonly ends: number; readonly left: AbortController }>();
  let wrong: readonly number[] = [];

  return {
    issue(host) {
      forgetEnded(codes, now());
      const code = randomSecret();
      codes.set(hashed(code), { host, ends: now() + codeMs });
      return { code, expiresInSeconds: codeMs / 1000 };
    },

    enter(code) {
      const issued = taken(codes, hashed(code), now());
      if (issued === undefined || issued.host.over?.aborted === true) return refuse();
      return { kind: "entered", secret: begin(issued.host) };
    },

    find(secret) {
      const found = visits.get(hashed(secret));
      return found === undefined || found.ends <= now() || found.visit.over.aborted ? undefined : found.visit;
    },

    leave(secret) {
      taken(visits, hashed(secret), now())?.left.abort();
    },
  };

  function begin(host: Principal): string {
    forgetEnded(visits, now());
    const secret = randomSecret();
    const left = new AbortController();
    const over = AbortSignal.any([left.signal, AbortSignal.timeout(visitMs), ...(host.over ? [host.over] : [])]);
    visits.set(hashed(secret), { visit: { ...host, over }, ends: now() + visitMs, left });
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
