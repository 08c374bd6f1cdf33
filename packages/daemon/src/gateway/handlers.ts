import type { AttachFile, Attachment, SessionId, TraceId } from "@corral/protocol";
import type { RouteName } from "@corral/protocol/routes";
import type { FastifyReply } from "fastify";
import type { RouteGroup } from "../assembly/port.ts";
import type { Log } from "../log/port.ts";
import type { Handlers, Sight } from "../routing/index.ts";
import type { FollowedCommand } from "../shells/index.ts";
import type { Visits } from "./door/visits.ts";
import type { Pages } from "./pages.ts";
import type { GatewayParts } from "./server.ts";
import type { Sockets } from "./streams/socket.ts";
import type { Streams } from "./streams/sse.ts";
import type { TerminalSockets } from "./streams/terminal-socket.ts";

/** What handlers of routes may be made of: the parts that the gateway has, and what it carries requests with. */
export interface RouteParts extends Omit<GatewayParts, "log"> {
  /** Masked. */
  readonly log: Pick<Log, "read" | "head">;
  readonly sight: Sight;
  readonly streams: Streams;
  readonly sockets: Sockets;
  readonly terminalSockets: TerminalSockets;
  readonly visits: Visits;
  readonly pages: Pages;
  readonly attach: (session: SessionId, file: AttachFile, traceId: TraceId) => Promise<Attachment>;
  readonly carryCommand: (reply: FastifyReply, command: FollowedCommand) => void;
}

/** The list of slices does not compile unless these are handlers of all routes; `mount` counts them once more. */
export function allHandlers(groups: readonly RouteGroup[], parts: RouteParts): Handlers<RouteName> {
  return Object.assign({}, ...groups.map((handlersOf) => handlersOf(parts as never))) as Handlers<RouteName>;
}
