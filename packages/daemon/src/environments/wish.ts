import { CorralError, type EnvironmentAsked, type EnvironmentWish } from "@corral/protocol";

/** What was asked for, made whole. Throws `environment.unkept` for what its kind cannot keep: nothing is promised in vain. */
export function wishOf({ kind, network, access = "write" }: EnvironmentAsked): EnvironmentWish {
  if (kind === "jail") return { kind, network: network ?? "off", access };
  if (network === "off") throw unkept("keep programs from the network");
  if (access === "read") throw unkept("keep programs from changing files");
  return { kind, network: "open", access };
}

function unkept(what: string): CorralError {
  return new CorralError("environment.unkept", `A local environment has no walls: it cannot ${what}.`, {
    hint: "Ask for a jail, or leave that out.",
  });
}
