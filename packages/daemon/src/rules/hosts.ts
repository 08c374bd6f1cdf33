/** Whether `example.org`, `*.example.org` or either with `:PORT` speaks of a host. Without a port it is for every port. */
export function matchesHost(written: string, asked: string): boolean {
  const [pattern, host] = [split(written), split(asked)];
  if (pattern.port !== undefined && host.port !== undefined && pattern.port !== host.port) return false;
  if (pattern.name === "*") return true;
  return pattern.name.startsWith("*.")
    ? host.name.endsWith(pattern.name.slice(1)) && host.name.length >= pattern.name.length
    : host.name === pattern.name;
}

function split(written: string): { readonly name: string; readonly port: string | undefined } {
  const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(written) ?? [undefined, written];
  return { name: name.toLowerCase().replace(/\.$/, ""), port };
}
