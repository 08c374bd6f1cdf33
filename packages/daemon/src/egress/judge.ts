import type { NetworkReason } from "@corral/protocol";
import { isOwn, isPublic } from "./addresses.ts";
import { lookUp } from "./list.ts";
import { quotable, readAuthority, type Target } from "./names.ts";
import type { Resolve } from "./resolve.ts";

export type Judgement =
  /** `address` is what the name led to now, and the only one to be used: asked again, it might lead elsewhere. */
  | {
      readonly verdict: "allowed";
      readonly reason: "listed" | "answered";
      readonly target: Target;
      readonly address: string;
    }
  | Refusal;

export interface Refusal {
  readonly verdict: "refused";
  readonly reason: Exclude<NetworkReason, "listed" | "answered">;
  /** What was asked for, fit for the record. */
  readonly target: Target;
  /** For whoever asked. */
  readonly explanation: string;
}

export interface Judge {
  /** What may be reached at this moment. */
  list(): Promise<readonly string[]>;
  resolve: Resolve;
  /** Asks whether one on no list may be reached all the same. Without: none may. */
  mayReach?(target: Target, leaving: AbortSignal): Promise<boolean>;
  /** Whether somebody wants one that is listed to be asked about, or not reached, all the same: the strictest word counts. */
  isHeld?(target: Target): Promise<boolean>;
  /** Addresses that may be reached although they are not public; for tests, which have no others. */
  readonly exceptions?: ReadonlySet<string>;
}

/** Decides about `HOST[:PORT]`. The name is looked for on the list before anybody is asked where it leads. */
export async function judge(
  authority: string,
  defaultPort: number,
  by: Judge,
  leaving: AbortSignal = new AbortController().signal,
): Promise<Judgement> {
  const target = readAuthority(authority, defaultPort);
  if (target === undefined) return oddName(authority);
  const { host, port } = target;
  const found = lookUp(await by.list(), target);
  const isHeld = found === "listed" && ((await by.isHeld?.(target)) ?? false);
  const isAnswered = (found !== "listed" || isHeld) && ((await by.mayReach?.(target, leaving)) ?? false);
  if (isHeld && !isAnswered)
    return refuse(
      "rule",
      `host ${host} is on the list, and a rule keeps it from being reached: corral rules check --host ${ask()}`,
    );
  if (found === "unlisted" && !isAnswered)
    return refuse("unlisted", `host ${host} is not on the list: corral network allow ${ask()}`);
  if (found === "port" && !isAnswered)
    return refuse("port", `host ${host} is on the list, port ${port} is not: corral network allow ${ask()}`);
  const addresses = await by.resolve(host);
  const [address] = addresses;
  if (address === undefined) return refuse("unresolved", `host ${host} was not found`);
  if (!addresses.every((each) => mayBeReached(each, by)))
    return refuse("address", `host ${host} leads to this machine or a private network, which is never reached`);
  return {
    verdict: "allowed",
    reason: isAnswered ? "answered" : "listed",
    target,
    address: ipv4First(addresses) ?? address,
  };

  function ask(): string {
    return port === 80 || port === 443 ? host : `${host}:${port}`;
  }

  function refuse(reason: Refusal["reason"], explanation: string): Refusal {
    return { verdict: "refused", reason, target: { host, port }, explanation };
  }
}

/** What was sent contradicts itself, so that another program might understand something else. */
export function untrustworthy(authority: string, explanation: string): Refusal {
  return { verdict: "refused", reason: "request", target: { host: quotable(authority), port: 0 }, explanation };
}

function oddName(authority: string): Refusal {
  const host = quotable(authority);
  const explanation = `${host} is not the name of a host on the network; addresses and local names are never reached`;
  return { verdict: "refused", reason: "name", target: { host, port: 0 }, explanation };
}

function mayBeReached(address: string, { exceptions }: Judge): boolean {
  return exceptions?.has(address) === true || (isPublic(address) && !isOwn(address));
}

/** A machine may have IPv6 addresses and no way out for them; one that has only them gets no others. */
function ipv4First(addresses: readonly string[]): string | undefined {
  return addresses.find((address) => !address.includes(":"));
}
