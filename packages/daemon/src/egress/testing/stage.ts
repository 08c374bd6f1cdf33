import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentWish, event, newId, type NetworkContact, type SessionId } from "@corral/protocol";
import { historyOf, type Log } from "../../log/index.ts";
import { openDaemonLog } from "../../testing/log.ts";
import { type Egress, type EgressParts, openEgress } from "../egress.ts";

export const loopback = "127.0.0.1";

/** A way out of a session's environment, seen from inside of it, and hosts to reach: names that all lead to loopback. */
export interface Stage extends AsyncDisposable {
  readonly log: Log;
  readonly home: string;
  readonly session: SessionId;
  readonly egress: Egress;
  readonly folder: string;
  /** What may be reached; to be changed at will. */
  list: string[];
  /** Puts a host on the list, as a change of settings. */
  allow(host: string): Promise<void>;
  /** Where names lead to, besides loopback. */
  readonly addresses: Map<string, readonly string[]>;
  /** Every name that was asked for. */
  readonly asked: string[];
  readonly defects: unknown[];
  /** A connection to the proxy. */
  dial(folder?: string): Socket;
  /** Sends exactly this and tells all that comes until the proxy has closed the connection. */
  say(text: string, folder?: string): Promise<string>;
  /** The stage holds the way open until then. */
  letGo(): Promise<void>;
  /** A server on loopback; the rest of the host's authority: `:PORT`. */
  serve(listener: RequestListener): Promise<string>;
  serveTcp(listener: (socket: Socket) => void): Promise<string>;
  /** What the log says of the network. */
  recorded(): Promise<readonly NetworkContact[]>;
}

export async function openStage(options: Partial<EgressParts> = {}): Promise<Stage> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), "corral-egress-"));
  const log = await openDaemonLog(join(home, "corral.db"));
  const session = newId("session");
  await log.append({ stream: session, actor: "person:test", events: [created()] });
  const servers = new Set<Server | TcpServer>();
  const addresses = new Map<string, readonly string[]>();
  const [asked, defects]: [string[], unknown[]] = [[], []];
  const egress = openEgress({
    log,
    hasOtherUsers: false,
    judge: { hostsFor: () => Promise.resolve(stage.list) },
    resolve: (host) => {
      asked.push(host);
      return Promise.resolve(addresses.get(host) ?? [loopback]);
    },
    exceptions: new Set([loopback]),
    pauseMs: 5,
    onDefect: (...defect) => defects.push(defect),
    ...options,
    home,
  });
  const { folder, release } = await egress.hold(session);
  const stage: Stage = {
    log,
    home,
    session,
    egress,
    folder,
    list: [],
    async allow(host) {
      stage.list = [...stage.list, host];
      const changed = { keys: ["network.allow"], origin: { layer: "user" as const, file: "/config.json" } };
      await log.append({ stream: "config", actor: "daemon", events: [event("config.changed", changed)] });
    },
    addresses,
    asked,
    defects,
    dial: (at = folder) => connect(join(at, "proxy")).on("error", () => undefined),
    letGo: () => Promise.resolve(release()),
    say: async (text, at) => {
      const socket = stage.dial(at);
      socket.write(text, "latin1");
      return everything(socket);
    },
    serve: (listener) => listen(createServer(listener)),
    serveTcp: (listener) => listen(createTcpServer({ allowHalfOpen: true }, listener)),
    recorded: async () =>
      (await historyOf(log, session)).flatMap((stored) => (stored.type === "network.reached" ? [stored.data] : [])),
    async [Symbol.asyncDispose]() {
      await egress.close();
      for (const server of servers) {
        if ("closeAllConnections" in server) server.closeAllConnections();
        server.close();
      }
      await log.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return stage;

  async function listen(server: Server | TcpServer): Promise<string> {
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
    return `:${(server.address() as AddressInfo).port}`;
  }
}

/** All that comes by a connection until it closes. */
export async function everything(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

function created() {
  return event("session.created", {
    projectId: newId("project"),
    title: "",
    model: "a/b",
    mode: "auto",
    environment: environmentWish.parse({ network: "allow" }),
    workspace: "copy",
    turnLimit: 25,
  });
}
