import { access, type EnvironmentAsked, environmentKind, network } from "@corral/protocol";
import { oneOf } from "./flags.ts";

/** Said whenever something is begun without walls. */
export const unsafe = "UNSAFE: there are no walls. Commands run as you, on all of your files and with the network.\n";

export interface EnvironmentFlags {
  readonly env?: string | undefined;
  readonly network?: string | undefined;
  readonly access?: string | undefined;
}

/** What the flags of a command ask of an environment. */
export function environmentIn(flags: EnvironmentFlags): EnvironmentAsked {
  const kind = oneOf("env", flags.env, environmentKind, "jail or local") ?? "jail";
  const net = oneOf("network", flags.network, network, "off, allow or open");
  const to = oneOf("access", flags.access, access, "read or write");
  return { kind, ...(net === undefined ? {} : { network: net }), ...(to === undefined ? {} : { access: to }) };
}
