import { access, type EnvironmentAsked, environmentKind, imageName, network } from "@corral/protocol";
import { oneOf, UsageError } from "../flags.ts";

/** Said whenever something is begun without walls. */
export const unsafe = "UNSAFE: there are no walls. Commands run as you, on all of your files and with the network.\n";

export interface EnvironmentFlags {
  readonly env?: string | undefined;
  readonly network?: string | undefined;
  readonly access?: string | undefined;
  readonly image?: string | undefined;
}

/** What the flags of a command ask of an environment. */
export function environmentIn(flags: EnvironmentFlags): EnvironmentAsked {
  const kind = oneOf("env", flags.env, environmentKind, "jail, container or local") ?? "jail";
  const net = oneOf("network", flags.network, network, "off, allow or open");
  const to = oneOf("access", flags.access, access, "read or write");
  const { image } = flags;
  if (image !== undefined && kind !== "container") throw new UsageError("--image needs --env container");
  if (image !== undefined && !imageName.safeParse(image).success)
    throw new UsageError("--image needs the name of an image");
  return {
    ...(image === undefined ? {} : { image }),
    kind,
    ...(net === undefined ? {} : { network: net }),
    ...(to === undefined ? {} : { access: to }),
  };
}
