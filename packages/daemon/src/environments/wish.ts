import { CorralError, type EnvironmentAsked, type EnvironmentWish } from "@corral/protocol";

/**
 * What was asked for, made whole: a session reaches the hosts on the list, unless it asks for another network. Throws
 * `environment.unkept` for what its kind cannot keep: nothing is promised in vain.
 */
export function wishOf({ kind, network, access = "write", allow }: EnvironmentAsked): EnvironmentWish {
  if (kind === "jail") return { kind, network: network ?? "allow", access, ...(allow === undefined ? {} : { allow }) };
  if (network === "off") throw unkept("keep programs from the network");
  if (network === "allow" || allow !== undefined) throw unkept("keep programs to a list of hosts");
  if (access === "read") throw unkept("keep programs from changing files");
  return { kind, network: "open", access };
}

/** The same for a shell, which has no proxy of its own and so no network unless it is open. */
export function shellWishOf(asked: EnvironmentAsked): EnvironmentWish {
  const { kind, network } = asked;
  if (kind === "jail" && (network === "allow" || asked.allow !== undefined)) throw noList();
  return wishOf(kind === "jail" ? { ...asked, network: network ?? "off" } : asked);
}

function unkept(what: string): CorralError {
  return new CorralError("environment.unkept", `A local environment has no walls: it cannot ${what}.`, {
    hint: "Ask for a jail, or leave that out.",
  });
}

function noList(): CorralError {
  return new CorralError(
    "environment.unkept",
    "Only sessions have a list of hosts: a shell's network is off or open.",
    {
      hint: "Leave the network out, for none, or ask for open.",
    },
  );
}
