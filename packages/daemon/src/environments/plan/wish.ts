import { type ContainerVolumes, CorralError, type EnvironmentAsked, type EnvironmentWish } from "@corral/protocol";

/**
 * Completes what was asked for: the network of a session is `allow`, unless it asks for another one. Throws `environment.unkept` if the
 * kind of environment cannot keep what was asked for, so nothing is promised in vain.
 */
export function wishOf(
  { kind, network, access = "write", allow, image }: EnvironmentAsked,
  usual: UsualContainer = {},
): EnvironmentWish {
  const walled = { network: network ?? "allow", access, ...(allow === undefined ? {} : { allow }) };
  if (kind === "container") return { kind, ...walled, ...containerOf(image, usual) };
  if (image !== undefined)
    throw new CorralError("request.invalid", `A ${kind} environment has no image.`, { hint: "Ask for a container." });
  if (kind === "jail") return { kind, ...walled };
  if (network === "off") throw unkept("keep programs from the network");
  if (network === "allow" || allow !== undefined) throw unkept("keep programs to a list of hosts");
  if (access === "read") throw unkept("keep programs from changing files");
  return { kind, network: "open", access };
}

/** The same for a person's shell, which has no network unless it asks for one. */
export function shellWishOf(asked: EnvironmentAsked, usual: UsualContainer = {}): EnvironmentWish {
  const { kind, network, allow } = asked;
  if (kind === "local") return wishOf(asked, usual);
  return wishOf({ ...asked, network: network ?? (allow === undefined ? "off" : "allow") }, usual);
}

/** And for a shell without a daemon, where there is no proxy. */
export function aloneWishOf(asked: EnvironmentAsked): EnvironmentWish {
  if (asked.kind !== "local" && (asked.network === "allow" || asked.allow !== undefined)) throw noList();
  return shellWishOf(asked);
}

/** What containers are made of when nobody says otherwise. */
export interface UsualContainer {
  readonly image?: string | null;
  readonly volumes?: ContainerVolumes;
}

function containerOf(
  asked: string | undefined,
  { image, volumes = {} }: UsualContainer,
): Pick<EnvironmentWish, "image" | "volumes"> {
  const named = asked ?? image ?? undefined;
  return {
    ...(named === undefined ? {} : { image: named }),
    ...(Object.keys(volumes).length === 0 ? {} : { volumes }),
  };
}

function unkept(what: string): CorralError {
  return new CorralError("environment.unkept", `A local environment has no walls: it cannot ${what}.`, {
    hint: "Ask for a jail, or leave that out.",
  });
}

function noList(): CorralError {
  return new CorralError(
    "environment.unkept",
    "Without a daemon there is no list of hosts: the network is off or open.",
    {
      hint: "Leave the network out, for none, or ask for open.",
    },
  );
}
