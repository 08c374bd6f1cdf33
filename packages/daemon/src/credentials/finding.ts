import type { CorralError, CredentialView, Finding } from "@corral/protocol";

const aboutKeys = { name: "provider keys", why: "a model is asked with them" };

/** Those that are kept, too, and never what they are. Undefined: there are none. */
export function keysFinding(credentials: readonly CredentialView[]): Finding | undefined {
  const found = credentials.flatMap(({ provider, source, variable }) => {
    if (source === null) return [];
    return [source === "variable" ? variable : `${provider} (corral auth)`];
  });
  return found.length === 0 ? undefined : { ...aboutKeys, state: "ok", found: found.join(", ") };
}

export function unreadableKeys(error: unknown): Finding {
  const { message, hint } = error as CorralError;
  return { ...aboutKeys, state: "failed", found: message, fix: hint ?? "look at the file" };
}

/** Providers that can be asked. */
export function reachable(credentials: readonly CredentialView[]): ReadonlySet<string> {
  return new Set(
    credentials.filter(({ source, isNeeded }) => source !== null || !isNeeded).map((each) => each.provider),
  );
}
