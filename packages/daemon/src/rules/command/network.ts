/** The host that a word names: `https://example.org:8443/x`, `git@example.org:x`. Undefined: none. */
export function hostOf(word: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return URL.canParse(word) ? withPort(new URL(word)) : undefined;
  const [, host] = /^[\w.-]+@([\w.-]+):/.exec(word) ?? [];
  return host;
}

/** The hosts that a word names, wherever in it: `--url=https://example.org`. */
export function hostsIn(word: string): readonly string[] {
  const addresses = [...word.matchAll(/:\/\/[^\s'"<>|;,()]+/g)].map(({ 0: rest, index }) => {
    const [scheme = ""] = /[a-z][a-z0-9+.-]*$/i.exec(word.slice(Math.max(0, index - 32), index)) ?? [];
    return `${scheme}${rest}`;
  });
  const hosts = [word, ...addresses].map(hostOf).filter((host) => host !== undefined);
  return [...new Set(hosts)];
}

/** Schemes that are not the web's keep their host as it is written. */
function withPort({ host }: URL): string | undefined {
  return host === "" ? undefined : host.toLowerCase();
}
