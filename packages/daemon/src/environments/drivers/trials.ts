import { CorralError, type EnvironmentWish } from "@corral/protocol";
import type { EnvironmentDrivers } from "./drivers.ts";

export interface TrialsWorld {
  readonly drivers: EnvironmentDrivers;
  readonly now?: () => number;
  /** Has something done when whoever waits now has what they came for. */
  readonly later?: (work: () => void) => void;
}

export interface Trials {
  /** Throws `jail.unavailable` with the fix, where no environment of the kind can be had. */
  mustOpen(wish: EnvironmentWish): Promise<void>;
}

/**
 * Finds out by trying whether environments can be opened here, before anything starts that needs one.
 *
 * 1. A jail that could be opened once counts as possible. After a while it is tried again in the background, so that nobody waits: a
 *    trial takes as long as everything else at the start of a session, and opening a jail fails by itself if it has become impossible.
 * 2. What failed is tried again on every request, so a repair counts at once.
 */
export function openTrials({ drivers, now = Date.now, later = afterwards }: TrialsWorld): Trials {
  let passed: number | undefined;
  let underWay: Promise<void> | undefined;

  async function tryJail(wish: EnvironmentWish): Promise<void> {
    try {
      await tryOnce(drivers, wish);
      passed = now();
    } catch (error) {
      passed = undefined;
      throw error;
    } finally {
      underWay = undefined;
    }
  }

  return {
    async mustOpen(wish) {
      if (wish.kind !== "jail") return tryOnce(drivers, wish);
      if (passed === undefined) return (underWay ??= tryJail(wish));
      if (now() - passed < freshMs) return;
      // Others who come meanwhile need not have it tried, too.
      passed = now();
      later(() => void (underWay ??= tryJail(wish)).catch(() => undefined));
    },
  };
}

const freshMs = 60_000;

async function tryOnce(drivers: EnvironmentDrivers, wish: EnvironmentWish): Promise<void> {
  const probe = await drivers.of(wish.kind).probe(wish);
  if (!probe.ok) throw new CorralError("jail.unavailable", probe.reason, { hint: probe.fix });
}

function afterwards(work: () => void): void {
  setTimeout(work, 2000).unref();
}
