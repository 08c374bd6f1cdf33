import type { Endpoint } from "@corral/client";
import { type Client, createClient } from "@corral/client/client";
import type { TraceId } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { leanFetch } from "./fetch.ts";
import { type RecordedDaemon, recordedDaemon, type WhoseDaemon } from "./recorded.ts";
import { shown } from "../terminal/output.ts";
import { version } from "../version.ts";
import type { World } from "../world.ts";

const patienceMs = 60_000;

/** The daemon of this home, if it runs and answers. One that is about to end is not worth beginning with. */
export async function findDaemon(whose: WhoseDaemon): Promise<RecordedDaemon | undefined> {
  const recorded = recordedDaemon(whose);
  if (recorded === undefined || recorded.stopping === true) return undefined;
  try {
    const { version: answered } = await clientOf(recorded).daemon.health({ signal: AbortSignal.timeout(5_000) });
    return { ...recorded, version: answered };
  } catch {
    return undefined;
  }
}

/**
 * A client of the running daemon, which is started when there is none. Any number of commands may do this at once:
 * the home lets one daemon win, and the others are found to be unneeded.
 */
export async function connectDaemon(
  { home, token, traceId, err }: Pick<World, "home" | "token" | "traceId" | "err">,
  start: (home: string) => Promise<"ready" | "taken"> = (folder) => startLazily(folder, err),
): Promise<Client> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const running = await findDaemon({ home, token });
    if (running !== undefined) return clientOf(sameVersion(running), traceId);
    if (performance.now() > deadline) throw silent(home);
    if ((await start(home)) === "taken") await appearance(home);
  }
}

/** Most commands find a daemon and need none of this. */
async function startLazily(home: string, err: World["err"]): Promise<"ready" | "taken"> {
  const { startDaemon } = await import("./start.ts");
  return startDaemon(home, { tell: (words) => err.write(shown(words)) });
}

/** Waits a while for the one that has the home. It may also be gone soon, then starting again will work. */
async function appearance(home: string): Promise<void> {
  const deadline = performance.now() + 2_000;
  while (performance.now() < deadline && (await findDaemon({ home })) === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function clientOf({ url, token }: Endpoint, traceId?: TraceId): Client {
  return createClient({ url, token, traceId, fetch: leanFetch });
}

/** Where the daemon is by now, when it is not where it was. */
export function movedDaemon(whose: WhoseDaemon, from: Endpoint): Endpoint | undefined {
  const now = recordedDaemon(whose);
  return now === undefined || (now.url === from.url && now.token === from.token) ? undefined : now;
}

function sameVersion(daemon: RecordedDaemon): RecordedDaemon {
  if (daemon.version === version) return daemon;
  throw new CorralError("daemon.version", `The running daemon is ${daemon.version}, this command is ${version}`, {
    hint: "Run `corral stop`, then try again: the next command starts a daemon of its own version",
  });
}

function silent(home: string): CorralError {
  return new CorralError("daemon.unreachable", `A daemon holds ${home} but does not answer`, {
    hint: "`corral stop --now` ends it; the next command starts a new one",
  });
}
