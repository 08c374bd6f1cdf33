import { CorralError, tokenPrefix } from "@corral/protocol";
import type { FastifyRequest } from "fastify";

/**
 * Addresses that nobody writes by accident: ways up or out of a folder, however they are encoded, and secrets, which
 * would stay in histories and logs.
 */
export function refuseOddAddresses({ url }: FastifyRequest): void {
  const [path = "", query] = url.split("?", 2);
  if (goesAstray(path)) throw new CorralError("request.invalid", "The path is not one that is served here");
  if (url.includes(tokenPrefix) || (query !== undefined && namesSecret(query))) throw secretInUrl();
}

/** Decoded as often as a careless reader might. */
function goesAstray(path: string): boolean {
  let decoded = path;
  for (let round = 0; round < 4; round++) {
    if (!decoded.startsWith("/") || decoded.startsWith("//") || astray.test(decoded)) return true;
    const next = decodedOnce(decoded);
    if (next === undefined) return true;
    if (next === decoded) return false;
    decoded = next;
  }
  return true;
}

/** A segment of dots, a backslash, a control character. */
const astray = /(^|\/)\.{1,2}(\/|;|$)|\\|\p{Cc}/u;

function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const secretNames = new Set(["token", "access_token", "auth", "authorization", "bearer", "api_key", "apikey", "code"]);

function namesSecret(query: string): boolean {
  return [...new URLSearchParams(query).keys()].some((name) => secretNames.has(name.toLowerCase()));
}

function secretInUrl(): CorralError {
  return new CorralError("request.token-in-url", "A token does not belong into an address", {
    hint: "Send it as `Authorization: Bearer TOKEN`; a browser is let in by the link that `corral dashboard` prints. Revoke this one if others may have seen it",
  });
}
