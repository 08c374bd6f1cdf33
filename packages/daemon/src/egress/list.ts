import type { Target } from "./names.ts";

/** What may be reached without a word about its port. */
const usualPorts = [80, 443];

/** Whether a list lets somebody go there. A pattern with a port is for that port, one without for the usual ones. */
export function lookUp(list: readonly string[], { host, port }: Target): "listed" | "unlisted" | "port" {
  const named = list.map(patternOf).filter((pattern) => isNamedBy(pattern, host));
  if (named.length === 0) return "unlisted";
  return named.some(({ ports }) => ports.includes(port)) ? "listed" : "port";
}

interface Pattern {
  readonly name: string;
  readonly ports: readonly number[];
}

function patternOf(written: string): Pattern {
  const [name = "", port] = written.split(":");
  return { name, ports: port === undefined ? usualPorts : [Number(port)] };
}

function isNamedBy({ name }: Pattern, host: string): boolean {
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) && host.length > name.length - 1 : host === name;
}
