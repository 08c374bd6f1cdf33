import { CorralError, environmentState, newId, type SessionId, type TerminalView } from "@corral/protocol";
import type { Environment, EnvironmentDrivers } from "../environments/index.ts";
import type { Log } from "../log/index.ts";
import { HeldTerminals } from "./held.ts";
import { type Terminals, terminalsOf } from "./port.ts";
import type { Scrollbacks } from "./scrollbacks.ts";

/** Terminals of people in the environments of sessions, beside the agent and within its walls. */
export interface SessionTerminals extends Terminals<SessionId> {
  /** Shells and sessions with a terminal that is open. */
  placesInUse(): Promise<readonly TerminalView["of"][]>;
  /** From now on environments can be opened for terminals, by who runs the sessions. Until then none is. */
  openVia(runs: OpensEnvironments): void;
  /** Ends those of a session that is about to go, or whose environment is. */
  closeAll(session: SessionId): Promise<void>;
  /** Takes up those that were open when the daemon went away. Whatever is asked of terminals waits for it. */
  begin(): Promise<void>;
  /** Lets go: lasting ones go on and are found again. */
  stop(): void;
}

export interface SessionTerminalParts {
  readonly log: Log;
  readonly drivers: Pick<EnvironmentDrivers, "reopen">;
  readonly scrollbacks: Scrollbacks;
  readonly onDefect: (what: string, error?: unknown) => void;
}

interface OpensEnvironments {
  /** Has the session's environment opened; it is on record when this resolves. */
  open(session: SessionId): Promise<void>;
}

const runsNothing: OpensEnvironments = {
  open: () =>
    Promise.reject(new CorralError("jail.unavailable", "Nothing runs sessions here yet.", { retry: "later" })),
};

/**
 * 1. An environment is opened by the session's run alone. The daemon has a hold of its own on one that is on record.
 * 2. That hold is let go with the last terminal, and never ends anything.
 */
export function openSessionTerminals(parts: SessionTerminalParts): SessionTerminals {
  const { log, drivers, scrollbacks, onDefect } = parts;
  let runs = runsNothing;
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  const places = new Map<SessionId, Place>();

  return {
    ...terminalsOf<SessionId>(
      async (session) => (await placeOf(session)).terminals,
      async (session, size, by, id = newId("terminal")) => {
        const place = await placeOf(session);
        if ((await log.row("terminals", id)) !== undefined) return place.terminals.look(id);
        await runs.open(session);
        return place.terminals.open(id, size, await hold(session, place), by);
      },
    ),
    async placesInUse() {
      const rows = await log.rows("terminals", { where: { state: "open" }, orderBy: "seq" });
      return [...new Set(rows.map((row) => row["place"] as TerminalView["of"]))];
    },
    openVia: (given) => void (runs = given),
    async closeAll(session) {
      await places.get(session)?.terminals.closeAll();
    },
    async begin() {
      for (const row of await log.rows("terminals", { where: { state: "open" }, orderBy: "seq" })) {
        const session = row["place"] as SessionId;
        if (session.startsWith("ses_") && !places.has(session))
          await recover(session).catch((error: unknown) =>
            onDefect(`the terminals of ${session} could not be taken up`, error),
          );
      }
      begun.resolve();
    },
    stop() {
      over.abort(new CorralError("daemon.stopping", "The daemon is stopping", { retry: "later" }));
      for (const { environment } of places.values()) environment?.detach();
    },
  };

  async function placeOf(session: SessionId): Promise<Place> {
    await begun.promise;
    over.signal.throwIfAborted();
    return places.get(session) ?? newPlace(session);
  }

  function newPlace(session: SessionId): Place {
    const onNoneLeft = () => {
      place.environment?.detach();
      places.delete(session);
    };
    const terminals = new HeldTerminals(session, { log, scrollbacks, onDefect, over: over.signal, onNoneLeft });
    const place: Place = { terminals, environment: undefined };
    places.set(session, place);
    return place;
  }

  async function hold(session: SessionId, place: Place): Promise<Environment> {
    const state = await stateOf(session);
    if (place.environment?.isOpen === true && place.environment.state.id === state?.id) return place.environment;
    const found = state === undefined ? undefined : await drivers.reopen(state);
    if (found?.kind !== "open")
      throw new CorralError("environment.gone", `The environment of ${session} has ended.`, { retry: "now" });
    return (place.environment = found.environment);
  }

  async function recover(session: SessionId): Promise<void> {
    const state = await stateOf(session);
    const found = state === undefined ? undefined : await drivers.reopen(state);
    const place = newPlace(session);
    place.environment = found?.kind === "open" ? found.environment : undefined;
    await place.terminals.recover(place.environment);
  }

  async function stateOf(session: SessionId) {
    const row = (await log.rows("environments")).findLast((each) => each["session"] === session);
    return row === undefined ? undefined : environmentState.parse(JSON.parse(row["state"] as string));
  }
}

interface Place {
  readonly terminals: HeldTerminals;
  environment: Environment | undefined;
}
