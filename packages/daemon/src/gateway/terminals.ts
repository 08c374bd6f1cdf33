import {
  CorralError,
  type EnvironmentKind,
  openTerminalWish,
  sessionId,
  type SessionId,
  shellId,
  type ShellId,
  terminalId,
  terminalList,
  terminalMessage,
  terminalSize,
  terminalView,
  type TerminalView,
} from "@corral/protocol";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Terminals } from "../terminals/index.ts";
import { isBounded, type Principal } from "../tokens/index.ts";
import type { App, RouteParts, Routes } from "./routes.ts";
import { knownSession } from "./sessions.ts";
import { knownShell, requireOperator, seenShell } from "./shells.ts";
import { principalOf } from "./tokens.ts";

const dimension = (shape: z.ZodInt) => z.coerce.number().pipe(shape).optional();
const streamQuery = z.object({
  columns: dimension(terminalSize.shape.columns).describe("of who watches; the terminal takes it on"),
  rows: dimension(terminalSize.shape.rows),
});

const description =
  "A WebSocket. Binary frames of the daemon are output: first the screen so far, then all that comes; what would make a viewer's terminal " +
  "answer, or reach further than its screen, is taken out. Binary frames of the client are keys, at most 4096 bytes each. " +
  'Text frames are JSON: `{"kind":"resize","columns":C,"rows":R}` gives it another size, for everybody; `{"kind":"ping"}` is answered by a ' +
  "pong. Closing the socket ends nothing but the viewing. Who does not read is dropped. Browsers are let in by their cookie, on pages of the daemon itself; others by the " +
  "Authorization header.";

const tags = ["terminals"];

export const terminalRoutes: Routes = (app, parts) => {
  const ofShells: PlacesWithTerminals<ShellId> = {
    noun: "shells",
    id: shellId,
    terminals: parts.shells.terminals,
    find: (request) => knownShell(parts, request),
  };
  const ofSessions: PlacesWithTerminals<SessionId> = {
    noun: "sessions",
    id: sessionId,
    terminals: parts.terminals,
    find: (request) => knownSession(parts.sessions, request.params.id),
  };
  app.get(
    "/api/terminals",
    { schema: { tags, summary: "Terminals that are open", response: { 200: terminalList } } },
    async (request) => {
      const places = await parts.terminals.placesInUse();
      const seen = await Promise.all(places.map((place) => seenTerminals(parts, principalOf(request), place)));
      return { terminals: seen.flat().filter(({ state }) => state === "open") };
    },
  );
  addRoutes(app, parts, ofShells);
  addRoutes(app, parts, ofSessions);
};

async function seenTerminals(
  parts: RouteParts,
  who: Principal,
  place: TerminalView["of"],
): Promise<readonly TerminalView[]> {
  const { shells, terminals, sight } = parts;
  if (isSession(place)) return !isBounded(who) || sight.session(who, place) ? terminals.list(place) : [];
  return (await seenShell(parts, who, place)) === undefined ? [] : shells.terminals.list(place);
}

function isSession(place: TerminalView["of"]): place is SessionId {
  return place.startsWith("ses_");
}

/** Shells, or sessions. */
interface PlacesWithTerminals<Place extends TerminalView["of"]> {
  readonly noun: "shells" | "sessions";
  readonly id: z.ZodType<Place>;
  readonly terminals: Terminals<Place>;
  /** Throws `not-found` for one that is not there, or out of bounds. */
  readonly find: (
    request: FastifyRequest<{ Params: { id: Place } }>,
  ) => Promise<{ readonly id: Place; readonly environment: { readonly kind: EnvironmentKind } }>;
}

function addRoutes<Place extends ShellId | SessionId>(
  app: App,
  { terminalSockets, secrets }: RouteParts,
  { noun, id, terminals, find }: PlacesWithTerminals<Place>,
): void {
  const at = `/api/${noun}/:id/terminals` as const;
  const placeParams = z.object({ id });
  const terminalParams = z.object({ id, terminal: terminalId });
  type Asked = FastifyRequest<{ Params: { id: Place } }>;

  app.post(
    at,
    {
      schema: {
        tags,
        summary: `Opens a terminal in the environment of one of the ${noun}`,
        params: placeParams,
        body: openTerminalWish,
        response: { 201: terminalView },
      },
    },
    async (request, reply) => {
      const place = await operated(request);
      return reply.code(201).send(await terminals.open(place, request.body, request.by, request.newId("terminal")));
    },
  );

  app.get(at, { schema: { tags, params: placeParams, response: { 200: terminalList } } }, async (request) => ({
    terminals: [...(await terminals.list((await find(request as Asked)).id))],
  }));

  app.get(
    `${at}/:terminal`,
    { schema: { tags, params: terminalParams, response: { 200: terminalView } } },
    async (request) => terminals.look((await find(request as Asked)).id, request.params.terminal),
  );

  app.delete(
    `${at}/:terminal`,
    {
      schema: {
        tags,
        summary: "Ends a terminal with all that runs on it",
        params: terminalParams,
        response: { 200: terminalView },
      },
    },
    async (request) => terminals.close(await operated(request as Asked), request.params.terminal),
  );

  app.get(
    `${at}/:terminal/scrollback`,
    {
      schema: {
        tags,
        summary: "The text that is or was on a terminal",
        params: terminalParams,
        response: { 200: { description: "Text without colours", content: { "text/plain": { schema: z.string() } } } },
      },
    },
    async (request, reply) => {
      const { terminal } = request.params;
      const text = await terminals.read((await find(request)).id, terminal);
      if (text === undefined) throw new CorralError("not-found", `Nothing of ${terminal} is kept any more.`);
      return reply
        .header("content-type", "text/plain; charset=utf-8")
        .header("x-content-type-options", "nosniff")
        .send(secrets.masked(text));
    },
  );

  app.route({
    method: "GET",
    url: `${at}/:terminal/stream`,
    schema: {
      tags,
      summary: "A terminal, over a WebSocket",
      description,
      params: terminalParams,
      querystring: streamQuery,
      response: { 101: terminalMessage.describe("Text frames of the daemon") },
    },
    async handler(request) {
      await find(request as Asked);
      throw new CorralError("stream.upgrade-needed", "This is a WebSocket", {
        hint: "GET …/scrollback tells the text on it without one",
      });
    },
    wsHandler(socket, request) {
      const { columns, rows } = request.query;
      terminalSockets.open(socket, principalOf(request), {
        async watch(viewer) {
          const size = columns === undefined || rows === undefined ? undefined : { columns, rows };
          return terminals.watch(await operated(request as Asked), request.params.terminal, viewer, size);
        },
      });
    },
  });

  /** What has no walls needs more. */
  async function operated(request: Asked): Promise<Place> {
    const place = await find(request);
    requireOperator(principalOf(request), place.environment.kind);
    return place.id;
  }
}
