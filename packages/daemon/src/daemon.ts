import type { DaemonInfo } from "@corral/protocol";
import type { RouteName } from "@corral/protocol/routes";
import { artifacts } from "./artifacts/slice.ts";
import { type HandledBy, type NeedsOfRoutes, openSlices, openStopping, type ProvidedBy } from "./assembly/index.ts";
import type { Machine, Parts, StopHow } from "./assembly/port.ts";
import { audit } from "./audit/slice.ts";
import { backups } from "./backups/slice.ts";
import { openCapabilities } from "./capabilities/index.ts";
import type { CapabilityName } from "./capabilities/port.ts";
import { config } from "./config/slice.ts";
import { credentials } from "./credentials/slice.ts";
import { egress } from "./egress/slice.ts";
import type { RouteParts } from "./gateway/index.ts";
import { gateway, meter, status } from "./gateway/slice.ts";
import { git } from "./git/slice.ts";
import { heldBack } from "./held-back/slice.ts";
import { home } from "./home/slice.ts";
import { models } from "./models/slice.ts";
import { permits } from "./permits/slice.ts";
import { projects } from "./projects/slice.ts";
import { questions } from "./questions/slice.ts";
import { retention } from "./retention/slice.ts";
import { rules } from "./rules/slice.ts";
import { environments, foreman, host, removal } from "./runner/slice.ts";
import { learn, log, secrets } from "./secrets/slice.ts";
import { sessions } from "./sessions/slice.ts";
import { shells } from "./shells/slice.ts";
import { scrollbacks, terminals } from "./terminals/slice.ts";
import { tokens } from "./tokens/slice.ts";
import { usage } from "./usage/slice.ts";
import { sites, snapshots, spares, workspaces } from "./workspaces/slice.ts";

/**
 * What a daemon is made of, from the ground up: each slice is made of those above it in this list. It is started down this list and stopped up
 * it again, phase by phase (`assembly/port.ts`).
 */
export const slices = [
  // The ground: from here on the home is this daemon's.
  home,
  secrets,
  learn,
  meter,
  log,
  tokens,
  projects,
  config,
  rules,
  // Who is asked and who asks: keys, models and runners, which start while the rest is opened.
  credentials,
  models,
  git,
  host,
  // Where work is done, and what is kept of it.
  egress,
  artifacts,
  scrollbacks,
  terminals,
  environments,
  shells,
  sites,
  sessions,
  // Who is asked first, and what is allowed.
  questions,
  heldBack,
  permits,
  spares,
  snapshots,
  workspaces,
  // Work begins when all that it needs has begun, and ends before any of that ends.
  foreman,
  removal,
  retention,
  usage,
  audit,
  backups,
  status,
  gateway,
] as const;

/** Something is missing in the list when this does not compile: who answers a route, provides a capability, or has what a route needs. */
true satisfies RouteName extends HandledBy<typeof slices> ? true : Exclude<RouteName, HandledBy<typeof slices>>;
true satisfies CapabilityName extends ProvidedBy<typeof slices>
  ? true
  : Exclude<CapabilityName, ProvidedBy<typeof slices>>;
true satisfies RouteParts extends NeedsOfRoutes<typeof slices> ? true : NeedsOfRoutes<typeof slices>;

/** What the program chooses. */
export interface DaemonParts extends Pick<Parts, "drivers" | "openLog" | "openStore" | "openHost"> {
  readonly machine: Omit<Machine, "stop">;
}

export interface Daemon {
  readonly info: DaemonInfo;
  readonly token: string;
  /** Drains by the deadline (at once with `now`) and leaves everything saved. Repeated calls join, and `now` hurries. */
  stop(how?: StopHow): Promise<void>;
  readonly stopped: Promise<void>;
}

/** Starts everything in order: the lock first, `daemon.json` last. */
export async function startDaemon({ machine, ...chosen }: DaemonParts): Promise<Daemon> {
  const logger = machine.logger.child({ component: "daemon" });
  const stopping = openStopping();
  const daemon = await openSlices(slices, {
    ...chosen,
    machine: { ...machine, stop: (how: StopHow) => stopping.ask(how) },
    capabilities: openCapabilities(),
  });
  const stopped = stopping.asked.then(() => {
    logger.info({ now: stopping.hurry.aborted }, "the daemon stops");
    return daemon.stop(stopping.hurry);
  });
  await daemon.begin();
  return {
    info: daemon.parts.status.info,
    token: daemon.parts.home.token,
    stop(how = {}) {
      stopping.ask(how);
      return stopped;
    },
    stopped,
  };
}
