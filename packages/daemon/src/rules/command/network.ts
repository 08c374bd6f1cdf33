/** The host that a word names: `https://example.org:8443/x`, `git@example.org:x`. Undefined: none. */
export function hostOf(word: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return URL.canParse(word) ? withPort(new URL(word)) : undefined;
  const [, host] = /^[\w.-]+@([\w.-]+):/.exec(word) ?? [];
  return host;
}

/** Schemes that are not the web's keep their host as it is written. */
function withPort({ host }: URL): string | undefined {
  return host === "" ? undefined : host.toLowerCase();
}
