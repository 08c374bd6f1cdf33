import type {
  ArtifactId,
  ArtifactView,
  Attachment,
  CommandId,
  CommandView,
  ProjectView,
  SessionId,
  ShellId,
  SnapshotView,
  TakeSnapshotAnswer,
  TerminalId,
  TerminalView,
  TraceId,
} from "@corral/protocol";
import type { BodyOf } from "@corral/protocol/routes";
import { type FollowCommand, followCommand } from "./command.ts";
import { type ReadArtifact, readArtifact } from "./content.ts";
import { follow, type Followed, type FollowOptions } from "./follow.ts";
import { type Methods, methodsOver } from "./methods.ts";
import { type OpenSocket, openWebSocket } from "./socket.ts";
import { type AttachedTerminal, attachTerminal, type AttachTerminal } from "./terminal.ts";
import { type Endpoint, type Fetch, type Sending, Transport, type Waiting } from "./transport.ts";

export interface ClientOptions extends Endpoint {
  /** All requests are of this trace; without it the daemon makes one for each. */
  readonly traceId?: TraceId | undefined;
  readonly fetch?: Fetch;
  readonly openSocket?: OpenSocket;
}

/**
 * The daemon's API: a method for each route of the table (`Methods`), and what is more than one request (`ByHand`). Every method throws
 * `CorralError`: what the daemon refused, or `daemon.unreachable`; an aborted signal throws its reason.
 */
export type Client = {
  readonly [K in keyof (Methods & ByHand)]: K extends keyof ByHand
    ? K extends keyof Methods
      ? Omit<Methods[K], keyof ByHand[K]> & ByHand[K]
      : ByHand[K]
    : (Methods & ByHand)[K];
};

/** What is more, or other, than one request of a route. */
export interface ByHand {
  readonly endpoint: Endpoint;
  /** Later requests, reconnecting streams too, go there: a restarted daemon may have another port. */
  moveTo(endpoint: Endpoint): void;
  readonly projects: {
    /** The project that the folder belongs to, if it is registered. */
    find(path: string, waiting?: Waiting): Promise<ProjectView | undefined>;
  };
  readonly sessions: {
    /** Keeps an image or a text for an input that names it by what this resolves with. */
    attach(
      id: SessionId,
      file: { readonly name: string; readonly bytes: Uint8Array },
      sending?: Sending,
    ): Promise<Attachment>;
  };
  /** Files that came out of the work in sessions and shells, by the id of either. */
  readonly artifacts: {
    list(owner: SessionId | ShellId, waiting?: Waiting): Promise<readonly ArtifactView[]>;
    /** Its bytes, or a part of them, as they come. */
    read(id: ArtifactId, how?: ReadArtifact): AsyncGenerator<Uint8Array, void, undefined>;
  };
  /** What the workspaces of sessions, and the copies of people's shells, held, by the id of either. */
  readonly snapshots: {
    /** Oldest first. */
    list(of: SessionId | ShellId, waiting?: Waiting): Promise<readonly SnapshotView[]>;
    /** Keeps what the files are now. */
    take(of: SessionId | ShellId, sending?: Sending): Promise<TakeSnapshotAnswer>;
  };
  readonly shells: {
    /** Until it has ended; a broken connection is taken up again. */
    follow(id: ShellId, command: CommandId, following?: FollowCommand): Promise<CommandView>;
  };
  /** Terminals in the environments of people's shells and of sessions, by the id of either. */
  readonly terminals: {
    open(of: ShellId | SessionId, wish?: BodyOf<"shells.openTerminal">, sending?: Sending): Promise<TerminalView>;
    /** All that there were, the newest last; without an id those that are open, wherever they are. */
    list(of?: ShellId | SessionId, waiting?: Waiting): Promise<readonly TerminalView[]>;
    get(of: ShellId | SessionId, id: TerminalId, waiting?: Waiting): Promise<TerminalView>;
    /** Watches it and types into it. Several may. */
    attach(of: ShellId | SessionId, id: TerminalId, attaching: AttachTerminal): AttachedTerminal;
    close(of: ShellId | SessionId, id: TerminalId, waiting?: Waiting): Promise<TerminalView>;
  };
  /**
   * Events after the cursor and those to come, each once and in order, with deltas in between; ends
   * when the signal aborts. A broken connection is taken up again where it broke.
   */
  follow(options: FollowOptions): AsyncGenerator<Followed, void, undefined>;
}

export function createClient({
  url,
  token,
  traceId,
  fetch: fetcher = globalThis.fetch.bind(globalThis),
  openSocket = openWebSocket,
}: ClientOptions): Client {
  const transport = new Transport({ url, token }, fetcher, traceId);
  const methods = methodsOver(transport);
  const { projects, sessions, shells, artifacts, snapshots, terminals } = methods;
  return {
    ...methods,
    get endpoint() {
      return transport.endpoint;
    },
    moveTo(endpoint) {
      transport.endpoint = endpoint;
    },
    projects: {
      ...projects,
      find: async (path, waiting) => (await projects.list({ path }, waiting))[0],
    },
    sessions: {
      ...sessions,
      attach: (id, { name, bytes }, sending) => sessions.attach(id, { name, base64: toBase64(bytes) }, sending),
    },
    artifacts: {
      ...artifacts,
      list: (id, waiting) => (isSession(id) ? sessions.artifacts(id, waiting) : shells.artifacts(id, waiting)),
      read: (id, how) => readArtifact(transport, id, how),
    },
    snapshots: {
      ...snapshots,
      list: (id, waiting) => (isSession(id) ? sessions.snapshots(id, waiting) : shells.snapshots(id, waiting)),
      take: (id, sending) => (isSession(id) ? sessions.takeSnapshot(id, sending) : shells.takeSnapshot(id, sending)),
    },
    shells: {
      ...shells,
      follow: (shell, command, following = {}) => followCommand(transport, { shell, command }, following),
    },
    terminals: {
      open: (id, wish, sending) =>
        isSession(id) ? sessions.openTerminal(id, wish, sending) : shells.openTerminal(id, wish, sending),
      list(id, waiting) {
        if (id === undefined) return terminals.list(waiting);
        return isSession(id) ? sessions.terminals(id, waiting) : shells.terminals(id, waiting);
      },
      get: (id, terminal, waiting) =>
        isSession(id) ? sessions.terminal(id, terminal, waiting) : shells.terminal(id, terminal, waiting),
      attach: (of, terminal, attaching) => attachTerminal({ transport, openSocket }, { of, terminal }, attaching),
      close: (id, terminal, waiting) =>
        isSession(id) ? sessions.closeTerminal(id, terminal, waiting) : shells.closeTerminal(id, terminal, waiting),
    },
    follow: (options) => follow(transport, openSocket, options),
  };
}

function isSession(id: ShellId | SessionId): id is SessionId {
  return id.startsWith("ses_");
}

/** In pieces: what is spread into a call must not be too long. */
function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
