import {
  type ClosedTerminal,
  CorralError,
  type EnvironmentKind,
  type ProjectId,
  type SessionId,
  type ShellId,
  type TerminalId,
  type TerminalSize,
  type TerminalView,
} from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import {
  type FindsSessions,
  type FindsShells,
  type Handlers,
  isBounded,
  knownSession,
  knownShell,
  type Principal,
  principalOf,
  requireOperator,
  seenShell,
  type Sight,
} from "../routing/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { TerminalViewer, WatchedTerminal } from "./held.ts";
import type { SessionTerminals } from "./of-sessions.ts";
import type { Terminals } from "./port.ts";

interface Needs {
  readonly terminals: SessionTerminals;
  readonly sessions: FindsSessions<WithEnvironment<SessionId>>;
  readonly shells: FindsShells<WithEnvironment<ShellId>> & { readonly terminals: Terminals<ShellId> };
  readonly sight: Sight;
  readonly secrets: Secrets;
  readonly terminalSockets: { open(socket: WebSocket, who: Principal, wish: TerminalWatch): void };
}

interface WithEnvironment<Place> {
  readonly id: Place;
  readonly projectId?: ProjectId | undefined;
  readonly environment: { readonly kind: EnvironmentKind };
}

/** A terminal as it is watched over a socket. */
export interface TerminalWatch {
  readonly watch: (viewer: TerminalViewer) => Promise<WatchedTerminal | ClosedTerminal>;
}

export function terminalRoutes(needs: Needs): Handlers<RoutesOf<"terminals">> {
  const { terminals, shells, sessions, sight } = needs;
  const ofShells = handlersOf(needs, shells.terminals, (who, id) => knownShell(needs, who, id));
  const ofSessions = handlersOf(needs, terminals, (_who, id) => knownSession(sessions, id));
  return {
    async "terminals.list"(request) {
      const places = await terminals.placesInUse();
      const seen = await Promise.all(places.map((place) => seenIn(place, principalOf(request))));
      return { terminals: seen.flat().filter(({ state }) => state === "open") };
    },
    "shells.terminals": ofShells.list,
    "shells.openTerminal": ofShells.open,
    "shells.terminal": ofShells.look,
    "shells.closeTerminal": ofShells.close,
    "shells.scrollback": ofShells.scrollback,
    "shells.watchTerminal": ofShells.watch,
    "sessions.terminals": ofSessions.list,
    "sessions.openTerminal": ofSessions.open,
    "sessions.terminal": ofSessions.look,
    "sessions.closeTerminal": ofSessions.close,
    "sessions.scrollback": ofSessions.scrollback,
    "sessions.watchTerminal": ofSessions.watch,
  };

  async function seenIn(place: TerminalView["of"], who: Principal): Promise<readonly TerminalView[]> {
    if (isSession(place)) return !isBounded(who) || sight.session(who, place) ? terminals.list(place) : [];
    return (await seenShell(needs, who, place)) === undefined ? [] : shells.terminals.list(place);
  }
}

function isSession(place: TerminalView["of"]): place is SessionId {
  return place.startsWith("ses_");
}

/** A request about the terminals of one of the shells, or of the sessions. */
type Asked<Place> = Pick<FastifyRequest, "principal" | "by" | "newId"> & { readonly params: { readonly id: Place } };
type AskedOne<Place> = Asked<Place> & { readonly params: { readonly terminal: TerminalId } };

interface WatcherSize {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** The same for shells and sessions. `find` throws `not-found` for one that is not there, or out of bounds. */
function handlersOf<Place extends TerminalView["of"]>(
  { terminalSockets, secrets }: Needs,
  terminals: Terminals<Place>,
  find: (who: Principal, id: Place) => Promise<WithEnvironment<Place>>,
) {
  return {
    list: async (request: Asked<Place>) => ({ terminals: [...(await terminals.list(await seen(request)))] }),

    open: async (request: Asked<Place> & { readonly body: TerminalSize }) =>
      terminals.open(await operated(request), request.body, request.by, request.newId("terminal")),

    look: async (request: AskedOne<Place>) => terminals.look(await seen(request), request.params.terminal),

    close: async (request: AskedOne<Place>) => terminals.close(await operated(request), request.params.terminal),

    scrollback: async (request: AskedOne<Place>, reply: FastifyReply): Promise<FastifyReply> => {
      const { terminal } = request.params;
      const text = await terminals.read(await seen(request), terminal);
      if (text === undefined) throw new CorralError("not-found", `Nothing of ${terminal} is kept any more.`);
      return reply
        .header("content-type", "text/plain; charset=utf-8")
        .header("x-content-type-options", "nosniff")
        .send(secrets.masked(text));
    },

    watch: {
      open(socket: WebSocket, request: AskedOne<Place> & { readonly query: WatcherSize }): void {
        const { columns, rows } = request.query;
        terminalSockets.open(socket, principalOf(request), {
          async watch(viewer) {
            const size = columns === undefined || rows === undefined ? undefined : { columns, rows };
            return terminals.watch(await operated(request), request.params.terminal, viewer, size);
          },
        });
      },
      async plain(request: AskedOne<Place>): Promise<never> {
        await seen(request);
        throw new CorralError("stream.upgrade-needed", "This is a WebSocket", {
          hint: "GET …/scrollback tells the text on it without one",
        });
      },
    },
  };

  async function seen(request: Asked<Place>): Promise<Place> {
    return (await find(principalOf(request), request.params.id)).id;
  }

  /** What has no walls needs more. */
  async function operated(request: Asked<Place>): Promise<Place> {
    const who = principalOf(request);
    const place = await find(who, request.params.id);
    requireOperator(who, place.environment.kind);
    return place.id;
  }
}
