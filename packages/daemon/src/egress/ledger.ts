import {
  CorralError,
  event,
  type NetworkContact,
  type NetworkReason,
  type SessionId,
  type ShellId,
} from "@corral/protocol";
import type { Log } from "../log/index.ts";
import type { Judgement } from "./judge.ts";
import { quotable } from "./names.ts";

/**
 * What a session, or a person's shell, had to do with which hosts.
 *
 * 1. The first contact with a host that may be reached is durable before a connection is made: nothing is reached unrecorded.
 * 2. Figures are those since it began, so each event stands for all before it, and what a crash takes is
 *    at most what the last pause would have told.
 * 3. However much happens, each host is told of once a pause at most, and beyond a number of hosts all others are one.
 */
export class Ledger {
  readonly #log: LedgerLog;
  readonly #place: Place;
  readonly #options: LedgerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #loaded: Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(log: LedgerLog, place: Place, options: LedgerOptions) {
    this.#log = log;
    this.#place = place;
    this.#options = options;
    this.#loaded = this.#load();
    this.#loaded.catch(() => undefined);
  }

  /** Counts a connection that will be made. Resolves when the host is on record. */
  async allow({ reason, target, address }: Extract<Judgement, { verdict: "allowed" }>): Promise<Connection> {
    await this.#loaded;
    const entry = this.#entry({ ...target, verdict: "allowed", reason });
    entry.connections += 1;
    entry.address = address;
    if (entry.isNew) await this.#write();
    else this.#soon();
    return this.#connection(entry);
  }

  /** Counts what was refused. */
  async refuse({ reason, target }: Extract<Judgement, { verdict: "refused" }>): Promise<void> {
    await this.#loaded;
    const entry = this.#entry({ ...target, verdict: "refused", reason });
    entry.connections += 1;
    if (entry.isNew) await this.#write();
    else this.#soon();
  }

  /** Writes down what is left to write. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#loaded.then(
      () => this.#write(),
      () => undefined,
    );
  }

  async #load(): Promise<void> {
    for (const row of await this.#log.rows("network_contacts", { where: { session: this.#place } })) {
      const contact = JSON.parse(row["contact"] as string) as NetworkContact;
      this.#entries.set(keyOf(contact), {
        ...contact,
        live: new Set(),
        recorded: JSON.stringify(contact),
        isNew: false,
      });
    }
  }

  #entry(kind: Kind): Entry {
    const known = this.#entries.get(keyOf(kind));
    if (known !== undefined) return known;
    const count = [...this.#entries.values()].filter(({ verdict }) => verdict === kind.verdict).length;
    if (count >= this.#options.hosts && kind.host !== "*") return this.#entry({ ...kind, host: "*", port: 0 });
    const entry = {
      ...kind,
      connections: 0,
      bytesOut: 0,
      bytesIn: 0,
      live: new Set<Figures>(),
      isNew: true,
      recorded: "",
    };
    this.#entries.set(keyOf(kind), entry);
    return entry;
  }

  #connection(entry: Entry): Connection {
    let figures: Figures | undefined;
    const settle = () => {
      if (figures === undefined) return;
      entry.bytesOut += figures.bytesWritten;
      entry.bytesIn += figures.bytesRead;
      entry.live.delete(figures);
      figures = undefined;
      this.#soon();
    };
    return {
      carries: (socket) => {
        figures = socket;
        entry.live.add(socket);
        this.#soon();
      },
      called: (name) => {
        if (name === entry.host) return;
        entry.serverNames = [...new Set([...(entry.serverNames ?? []), quotable(name)])].slice(0, 10);
        this.#soon();
      },
      over: settle,
    };
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#write().catch((error: unknown) => {
        if (error instanceof CorralError && error.code === "append.conflict") return;
        this.#options.onDefect("what was reached by network was not recorded", error);
        this.#soon();
      });
      if ([...this.#entries.values()].some(({ live }) => live.size > 0)) this.#soon();
    }, this.#options.pauseMs).unref();
  }

  /** One append at a time, so that later figures never come before earlier ones. */
  #write(): Promise<void> {
    const writing = this.#writing.then(() => this.#append());
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  async #append(): Promise<void> {
    const changed = [...this.#entries.values()]
      .map((entry) => ({ entry, contact: contactOf(entry) }))
      .filter(({ entry, contact }) => JSON.stringify(contact) !== entry.recorded);
    if (changed.length === 0) return;
    await this.#log.append({
      stream: this.#place,
      actor: "corral",
      events: changed.map(({ contact }) => event("network.reached", contact)),
      // One that is no more gets no more events.
      guards: [{ table: isShell(this.#place) ? "shells" : "sessions", key: this.#place, is: {} }],
    });
    for (const { entry, contact } of changed) {
      entry.recorded = JSON.stringify(contact);
      entry.isNew = false;
    }
  }
}

/** Whose environments reach out. */
export type Place = SessionId | ShellId;

export function isShell(place: Place): place is ShellId {
  return place.startsWith("shl_");
}

export type LedgerLog = Pick<Log, "append" | "rows">;

export interface LedgerOptions {
  /** How long figures may be behind. */
  readonly pauseMs: number;
  /** How many hosts are told apart, of those allowed and of those refused. */
  readonly hosts: number;
  readonly onDefect: (what: string, error: unknown) => void;
}

/** One connection's part in the figures. */
export interface Connection {
  /** From now on its bytes count. */
  carries(socket: Figures): void;
  /** Another name was used on it. */
  called(name: string): void;
  over(): void;
}

interface Figures {
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

interface Kind {
  readonly host: string;
  readonly port: number;
  readonly verdict: NetworkContact["verdict"];
  readonly reason: NetworkReason;
}

interface Entry extends Kind {
  connections: number;
  bytesOut: number;
  bytesIn: number;
  address?: string | undefined;
  serverNames?: string[] | undefined;
  readonly live: Set<Figures>;
  isNew: boolean;
  /** What the log has of it. */
  recorded: string;
}

export function keyOf({ host, port, verdict, reason }: Kind): string {
  return `${verdict} ${reason} ${host} ${port}`;
}

function contactOf(entry: Entry): NetworkContact {
  const { live, host, port, verdict, reason, connections, bytesOut, bytesIn, address, serverNames } = entry;
  const sum = (of: keyof Figures) => [...live].reduce((total, figures) => total + figures[of], 0);
  return {
    host,
    port,
    verdict,
    reason,
    connections,
    bytesOut: bytesOut + sum("bytesWritten"),
    bytesIn: bytesIn + sum("bytesRead"),
    ...(address === undefined ? {} : { address }),
    ...(serverNames === undefined ? {} : { serverNames }),
  };
}
