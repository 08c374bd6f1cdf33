import { chmodSync, closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Server } from "node:net";
import { basename, join } from "node:path";
import {
  CorralError,
  environmentState,
  environmentWish,
  isAbout,
  isEndOf,
  networkContact,
  type NetworkView,
  type SessionId,
} from "@corral/protocol";
import type { CallingRun, Capability, Nothing, Provisions } from "../capabilities/port.ts";
import { descriptorLimit, shortageIn } from "../descriptors/index.ts";
import type { Log } from "../log/index.ts";
import { HostQuestions } from "./host-questions.ts";
import { isShell, Ledger, type Place } from "./ledger.ts";
import type { Target } from "./names.ts";
import { type Deadlines, openProxy } from "./proxy.ts";
import { openResolver, type Resolve } from "./resolve.ts";

declare module "../capabilities/port.ts" {
  interface Capabilities {
    /**
     * Opens the way out of a session whose network is `allow`. It stays open until the environment that is opened with it is on record, and
     * as long as that is; without an environment until the run ends. `folder` holds its socket; without one nothing can be reached. Rejects
     * with `descriptors.exhausted`.
     */
    "egress.way-out": Capability<Nothing, { readonly folder?: string }>;
  }
}

/**
 * The ways out of environments whose network is `allow`: for each session, and each person's shell, a proxy on a unix socket in a folder of its own.
 *
 * 1. Whose request it is, is told by the socket it comes by; the folder is in that session's environment and in no other.
 * 2. A way stays open as long as somebody holds it or the session has an environment on record. The folder stays for as
 *    long, across restarts: an environment keeps the folder that it was opened with. A session at rest without an environment
 *    has neither; an open way costs one descriptor.
 * 3. The list is asked for anew after every change of settings or of trust, so that a change counts for the next request.
 */
export interface Egress {
  /**
   * Opens the ways of the environments on record, and removes what is left of others. One that cannot be opened is told of; it is tried
   * again when the session goes on.
   */
  begin(): Promise<void>;
  /** The session's way out, open when this resolves. `folder` holds its socket, called `proxy`. */
  hold(session: Place): Promise<HeldWay>;
  readonly provides: Pick<Provisions, "egress.way-out">;
  /** From now on this judge says what may be reached. */
  judgeBy(judge: ReachJudge): void;
  /** What was reached, or was to be, newest last. */
  view(session?: Place): Promise<NetworkView>;
  /** Ends all connections and writes down what is left to write. */
  close(): Promise<void>;
}

export interface EgressParts {
  readonly log: Pick<Log, "append" | "rows" | "row" | "head" | "onCommit">;
  readonly home: string;
  /** Whether environments run as users that are not this process's own, each as another. */
  readonly hasOtherUsers: boolean;
  /** Until there is one, nothing may be reached. */
  readonly judge?: ReachJudge;
  readonly onDefect: (what: string, error?: unknown) => void;
  readonly resolve?: Resolve;
  /** Addresses that may be reached although they are not public; for tests, which have no others. */
  readonly exceptions?: ReadonlySet<string>;
  readonly deadlines?: Partial<Deadlines>;
  /** Of all sessions together. */
  readonly mostConnections?: number;
  /** How long the figures of what was reached may be behind. */
  readonly pauseMs?: number;
}

/** Says what may be reached. */
export interface ReachJudge {
  /** Hosts that a session, or a shell, may reach. */
  hostsFor(place: Place): Promise<readonly string[]>;
  /** Whether a host that is listed is to be asked about all the same. Without: never. */
  isHeld?(place: Place, target: Target): Promise<boolean>;
  /** Asks about a host that is on no list, for as long as the signal says that somebody waits. Without: it is refused. */
  mayReach?(place: Place, target: Target, signal: AbortSignal): Promise<boolean>;
}

interface HeldWay {
  readonly folder: string;
  readonly release: () => void;
}

interface Way {
  readonly folder: string;
  holders: number;
  readonly opening: Promise<OpenWay>;
}

interface OpenWay {
  close(): Promise<void>;
}

const reachesNothing: ReachJudge = { hostsFor: () => Promise.resolve([]) };

/** A list that was asked for is good until something changes; this long at most, in case that goes unnoticed. */
const listGoodMs = 2_000;
const toldApart = 200;

export function openEgress(parts: EgressParts): Egress {
  const { log, onDefect, resolve = openResolver() } = parts;
  const root = join(parts.home, "egress");
  const ways = new Map<Place, Way>();
  /** Ways that runs hold, each until its session has an environment on record. */
  const heldByRuns = new Map<Place, Promise<HeldWay>>();
  /** Closing a socket removes its file, so the next one is not made before. */
  const closings = new Map<Place, Promise<void>>();
  const lists = new Map<Place, { readonly list: Promise<readonly string[]>; readonly until: number }>();
  /** In all ways together. Each takes a descriptor here and one outside; agents never get more than a quarter of what there are. */
  const { mostConnections = Math.floor(descriptorLimit() / 8) } = parts;
  let connections = 0;
  let { judge: reach = reachesNothing } = parts;
  let closed = false;
  let rootFd: number | undefined;
  const unlisten = log.onCommit((events) => {
    for (const each of events) {
      if (isAbout("config", each) || isAbout("project", each)) lists.clear();
      if (isEndOf("environment", each) || isEndOf("session", each)) background(letGo(each.stream as Place));
      if (each.type === "environment.opened") releaseOfRun(each.stream as Place);
    }
  });

  return {
    async begin() {
      const held = await onRecord();
      await sweep(held);
      const opening = [...held].map(async (session) => {
        await (ways.get(session) ?? open(session)).opening;
      });
      for (const each of await Promise.allSettled(opening))
        if (each.status === "rejected") onDefect("a way out was not opened", each.reason);
    },

    judgeBy(judge) {
      reach = judge;
      lists.clear();
    },

    hold,

    provides: {
      async "egress.way-out"(session, _, { run }) {
        await mustAllow(session);
        const { folder } = await (heldByRuns.get(session) ?? holdFor(run));
        return { folder };
      },
    },

    async view(session) {
      const seq = await log.head();
      const rows = await log.rows("network_contacts", session === undefined ? {} : { where: { session } });
      const inOrder = rows.toSorted((one, other) => Number(one["seq"]) - Number(other["seq"]));
      const contacts = inOrder.map((row) => ({
        ...placeOf(row["session"] as Place),
        ...networkContact.parse(JSON.parse(row["contact"] as string)),
        approximateLastTime: row["time"] as string,
      }));
      return { contacts, seq };
    },

    async close() {
      closed = true;
      unlisten();
      const open = [...ways.values()];
      ways.clear();
      await Promise.all(open.map(async ({ opening }) => (await opening.catch(() => undefined))?.close()));
      if (rootFd !== undefined) closeSync(rootFd);
      rootFd = undefined;
    },
  };

  async function hold(session: Place): Promise<HeldWay> {
    const way = ways.get(session) ?? open(session);
    way.holders += 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      way.holders -= 1;
      background(letGo(session));
    };
    await way.opening.catch((error: unknown) => {
      release();
      throw error;
    });
    return { folder: way.folder, release };
  }

  function holdFor(run: CallingRun): Promise<HeldWay> {
    const held = hold(run.session);
    heldByRuns.set(run.session, held);
    held.catch(() => releaseOfRun(run.session, held));
    run.onEnd(() => releaseOfRun(run.session, held));
    return held;
  }

  function releaseOfRun(session: Place, held = heldByRuns.get(session)): void {
    if (heldByRuns.get(session) === held) heldByRuns.delete(session);
    held?.then(
      ({ release }) => release(),
      () => undefined,
    );
  }

  async function mustAllow(session: SessionId): Promise<void> {
    const row = await log.row("sessions", session);
    const wish = row === undefined ? undefined : environmentWish.parse(JSON.parse(row["environment"] as string));
    if (wish?.network === "allow") return;
    throw new CorralError("environment.unkept", `The network of ${session} is not "allow".`);
  }

  function open(session: Place): Way {
    const folder = join(root, session);
    const way: Way = { folder, holders: 0, opening: listen(session, folder) };
    ways.set(session, way);
    way.opening.catch(() => ways.get(session) === way && ways.delete(session));
    return way;
  }

  async function listen(session: Place, folder: string): Promise<OpenWay> {
    await closings.get(session);
    const ledger = new Ledger(log, session, { pauseMs: parts.pauseMs ?? 10_000, hosts: toldApart, onDefect });
    const hosts = new HostQuestions(async (target, signal) => reach.mayReach?.(session, target, signal) ?? false);
    const judge = {
      list: () => listOf(session),
      resolve,
      isHeld: async (target: Target) => reach.isHeld?.(session, target) ?? false,
      mayReach: (target: Target, leaving: AbortSignal) => hosts.mayReach(target, leaving),
      ...(parts.exceptions === undefined ? {} : { exceptions: parts.exceptions }),
    };
    const server = openProxy({
      judge,
      ledger,
      ...(parts.deadlines === undefined ? {} : { deadlines: parts.deadlines }),
    });
    const sockets = new Set<{ destroy(): void }>();
    server.on("connection", (socket) => {
      sockets.add(socket);
      connections += 1;
      socket.once("close", () => {
        sockets.delete(socket);
        connections -= 1;
      });
      if (connections > mostConnections) socket.destroy();
    });
    await listenIn(folder, server);
    return {
      async close() {
        const ended = new Promise<void>((resolve) => server.close(() => resolve()));
        for (const socket of sockets) socket.destroy();
        await ended;
        await ledger.close().catch((error: unknown) => {
          if ((error as { code?: string }).code !== "append.conflict")
            onDefect("the network's ledger is behind", error);
        });
      },
    };
  }

  /** The path of a socket must be short, so folders are reached by the descriptor of the one that they are all in. */
  async function listenIn(folder: string, server: Server): Promise<void> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rootFd ??= openSync(root, constants.O_DIRECTORY | constants.O_RDONLY | constants.O_NOFOLLOW);
    const path = `/proc/self/fd/${rootFd}/${basename(folder)}/proxy`;
    try {
      rmSync(path, { force: true });
      await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ path }, resolve));
      // Whoever has the folder may use it. The home lets no other user in, and no environment but the session's sees the folder.
      chmodSync(path, parts.hasOtherUsers ? 0o666 : 0o600);
      chmodSync(folder, parts.hasOtherUsers ? 0o755 : 0o700);
    } catch (error) {
      server.close();
      throw shortageIn(error) ?? error;
    }
  }

  function listOf(session: Place): Promise<readonly string[]> {
    const known = lists.get(session);
    if (known !== undefined && known.until > performance.now()) return known.list;
    const list = reach.hostsFor(session);
    lists.set(session, { list, until: performance.now() + listGoodMs });
    list.catch(() => lists.delete(session));
    return list;
  }

  /** Closes a way that nobody needs any more. */
  async function letGo(session: Place): Promise<void> {
    const way = ways.get(session);
    if (way === undefined || way.holders > 0) return;
    const isNeeded = (await onRecord()).has(session);
    if (isNeeded || way.holders > 0 || ways.get(session) !== way || closed) return;
    ways.delete(session);
    lists.delete(session);
    const closing = shut(session, way);
    closings.set(session, closing);
    await closing.finally(() => closings.delete(session));
  }

  async function shut(session: Place, way: Way): Promise<void> {
    const opened = await way.opening.catch(() => undefined);
    await opened?.close();
    if (!ways.has(session)) rmSync(way.folder, { recursive: true, force: true });
  }

  async function onRecord(): Promise<Set<Place>> {
    const rows = await log.rows("environments");
    const allowing = rows.filter(
      (row) => environmentState.parse(JSON.parse(row["state"] as string)).network === "allow",
    );
    return new Set(allowing.map((row) => row["session"] as Place));
  }

  async function sweep(held: ReadonlySet<Place>): Promise<void> {
    const names = (await readdir(root).catch(() => [])) as Place[];
    for (const name of names.filter((each) => !held.has(each) && !ways.has(each)))
      rmSync(join(root, name), { recursive: true, force: true });
  }

  function background(work: Promise<void>): void {
    work.catch((error: unknown) => onDefect("a way out was not closed", error));
  }
}

function placeOf(place: Place): Pick<NetworkView["contacts"][number], "session" | "shell"> {
  return isShell(place) ? { shell: place } : { session: place };
}
