import {
  CorralError,
  openTerminalWish,
  shellId,
  terminalId,
  terminalList,
  terminalMessage,
  terminalSize,
  terminalView,
} from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";
import { knownShell, requireOperator } from "./shells.ts";
import { principalOf } from "./tokens.ts";

const shellParams = z.object({ id: shellId });
const terminalParams = z.object({ id: shellId, terminal: terminalId });
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

export const terminalRoutes: Routes = (app, parts) => {
  const { shells, terminalSockets } = parts;
  const tags = ["terminals"];

  app.post(
    "/api/shells/:id/terminals",
    {
      schema: {
        tags,
        summary: "Opens a terminal in a shell's environment",
        params: shellParams,
        body: openTerminalWish,
        response: { 201: terminalView },
      },
    },
    async (request, reply) => {
      const { id, environment } = await knownShell(parts, request);
      requireOperator(principalOf(request), environment.kind);
      const opened = await shells.openTerminal(id, request.body, request.by, request.newId("terminal"));
      return reply.code(201).send(opened);
    },
  );

  app.get(
    "/api/shells/:id/terminals",
    { schema: { tags, params: shellParams, response: { 200: terminalList } } },
    async (request) => ({ terminals: [...(await shells.listTerminals((await knownShell(parts, request)).id))] }),
  );

  app.get(
    "/api/shells/:id/terminals/:terminal",
    { schema: { tags, params: terminalParams, response: { 200: terminalView } } },
    async (request) => shells.lookAtTerminal((await knownShell(parts, request)).id, request.params.terminal),
  );

  app.delete(
    "/api/shells/:id/terminals/:terminal",
    {
      schema: {
        tags,
        summary: "Ends a terminal with all that runs on it",
        params: terminalParams,
        response: { 200: terminalView },
      },
    },
    async (request) => {
      const { id, environment } = await knownShell(parts, request);
      requireOperator(principalOf(request), environment.kind);
      return shells.closeTerminal(id, request.params.terminal);
    },
  );

  app.get(
    "/api/shells/:id/terminals/:terminal/scrollback",
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
      const text = await shells.readTerminal((await knownShell(parts, request)).id, terminal);
      if (text === undefined) throw new CorralError("not-found", `Nothing of ${terminal} is kept any more.`);
      return reply
        .header("content-type", "text/plain; charset=utf-8")
        .header("x-content-type-options", "nosniff")
        .send(text);
    },
  );

  app.route({
    method: "GET",
    url: "/api/shells/:id/terminals/:terminal/stream",
    schema: {
      tags,
      summary: "A terminal, over a WebSocket",
      description,
      params: terminalParams,
      querystring: streamQuery,
      response: { 101: terminalMessage.describe("Text frames of the daemon") },
    },
    async handler(request) {
      await knownShell(parts, request);
      throw new CorralError("stream.upgrade-needed", "This is a WebSocket", {
        hint: "GET …/scrollback tells the text on it without one",
      });
    },
    wsHandler(socket, request) {
      const { columns, rows } = request.query;
      const who = principalOf(request);
      terminalSockets.open(socket, who, {
        async watch(viewer) {
          const { id, environment } = await knownShell(parts, request);
          requireOperator(who, environment.kind);
          const size = columns === undefined || rows === undefined ? undefined : { columns, rows };
          return shells.watchTerminal(id, request.params.terminal, viewer, size);
        },
      });
    },
  });
};
