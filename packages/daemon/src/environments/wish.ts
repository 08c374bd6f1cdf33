import { type ContainerVolumes, CorralError, type EnvironmentAsked, type EnvironmentWish } from "@corral/protocol";

/** What was asked for, made whole. Throws `environment.unkept` for what its kind cannot keep: nothing is promised in vain. */
export function wishOf(
  { kind, network, access = "write", image }: EnvironmentAsked,
  usual: UsualContainer = {},
): EnvironmentWish {
  if (kind === "container") return { kind, network: network ?? "off", access, ...containerOf(image, usual) };
  if (image !== undefined)
    throw new CorralError("request.invalid", `A ${kind} environment has no image.`, { hint: "Ask for a container." });
  if (kind === "jail") return { kind, network: network ?? "off", access };
  if (network === "off") throw unkept("keep programs from the network");
  if (access === "read") throw unkept("keep programs from changing files");
  return { kind, network: "open", access };
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
