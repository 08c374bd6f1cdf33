/** Where somebody wants to go, in the one way of writing that everything else is compared with. */
export interface Target {
  /** A name with a dot in it: ASCII, small letters, no dot at the end. */
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `HOST[:PORT]`. Undefined: it is no name of a host on the network. Names alone are taken, and of those only what every
 * program reads in the same way: no addresses in any form, nothing that is escaped or not ASCII, no user names.
 */
export function readAuthority(authority: string, defaultPort: number): Target | undefined {
  const [, name = "", digits] = /^([^:]*)(?::([0-9]{1,5}))?$/.exec(authority) ?? [];
  const host = readName(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function readName(name: string): string | undefined {
  const host = name.toLowerCase().replace(/\.$/, "");
  if (host.length > 253 || !properName.test(host)) return undefined;
  return localEndings.test(host) ? undefined : host;
}

/** A last label that begins with a digit makes it an address for some programs: 127.1, 0x7f.0.0.1, 1.2.3.04. */
const properName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names that by their definition lead to this machine or stay in the network it is in. */
const localEndings = /(?:^|\.)(?:localhost|localdomain|local|internal|lan|home|corp|intranet|private|home\.arpa)$/;

/** What is put on record of something that somebody wrote: short and printable. */
export function quotable(written: string): string {
  const printable = written.replaceAll(/[^\u0021-\u007e]/g, "?");
  return printable.length > 200 ? `${printable.slice(0, 200)}…` : printable;
}
