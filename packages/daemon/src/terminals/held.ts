import {
  type ClosedTerminal,
  CorralError,
  event,
  type EventData,
  type NewEvent,
  type TerminalId,
  type TerminalSize,
  type TerminalView,
} from "@corral/protocol";
import type { Environment, Terminal } from "../environments/index.ts";
import type { By, Log, Row } from "../log/index.ts";
import type { Scrollback, Scrollbacks } from "./scrollbacks.ts";

/** In whose environment a terminal is. */
export type TerminalPlace = TerminalView["of"];

/** What is told to whoever watches a terminal. None of it may throw. */
export interface TerminalViewer {
  /** First the screen so far, then all that comes. */
  onOutput(bytes: Buffer): void;
  onSize(size: TerminalSize): void;
  onClosed(closed: ClosedTerminal): void;
}

/** A terminal in the hands of one viewer. */
export interface WatchedTerminal {
  write(bytes: Uint8Array): void;
  resize(size: TerminalSize): void;
  leave(): void;
}

export interface TerminalWorld {
  readonly log: Log;
  readonly scrollbacks: Scrollbacks;
  readonly onDefect: (what: string, error: unknown) => void;
  /** Aborted when the daemon stops: from then on nothing is recorded, for what runs goes on. */
  readonly over: AbortSignal;
  /** The last one is closed and let go of. */
  readonly onNoneLeft?: () => void;
}

/**
 * The terminals of one shell or session, as the daemon holds them.
 *
 * 1. A terminal is on record before anything of it runs, and its end is recorded once: the append is guarded by its row.
 * 2. What was on it is on file before its end is on record, and its end is on record before anybody is told or the environment forgets it.
 * 3. After a restart a lasting one is joined again, with all that it still runs; one that was not is recorded as ended.
 */
export class HeldTerminals {
  readonly #place: TerminalPlace;
  readonly #world: TerminalWorld;
  readonly #open = new Map<TerminalId, Held>();

  constructor(place: TerminalPlace, world: TerminalWorld) {
    this.#place = place;
    this.#world = world;
  }

  /** A terminal counts as use of its place while somebody watches it, or it had something to tell not long ago. */
  isQuietFor(ms: number): boolean {
    return [...this.#open.values()].every(
      ({ viewers, lastHeard }) => viewers.size === 0 && performance.now() - lastHeard >= ms,
    );
  }

  /** With the id of one that was opened before, it is that one. */
  async open(id: TerminalId, size: TerminalSize, environment: Environment, by: By): Promise<TerminalView> {
    const known = await this.#world.log.row("terminals", id);
    if (known !== undefined) return this.#view(known);
    await this.#append([event("terminal.opened", { id, environment: environment.state.id, ...size })], by, {
      key: id,
      is: null,
    });
    try {
      const held = this.#hold(id, await environment.openTerminal(nameOf(id), size));
      await held.scrollback.begun;
      return this.#viewOf(id, held);
    } catch (error) {
      await this.#recordClosed({ id, reason: "it could not begin" });
      throw error;
    }
  }

  async recover(environment: Environment | undefined): Promise<void> {
    for (const row of await this.#rows("open")) {
      const id = row["key"] as TerminalId;
      const terminal = await environment?.joinTerminal(nameOf(id));
      if (terminal !== undefined) this.#hold(id, terminal);
      else
        await this.#recordClosed({
          id,
          reason:
            environment === undefined
              ? "its environment ended"
              : "it ended with the daemon, for there was no tmux to hold it",
          ...addressed(await this.#world.scrollbacks.left(id)),
        });
    }
  }

  async list(): Promise<readonly TerminalView[]> {
    return (await this.#rows()).map((row) => this.#view(row));
  }

  async look(id: TerminalId): Promise<TerminalView> {
    return this.#view(await this.#row(id));
  }

  /** With a size of the viewer's own, the terminal takes it on before it is shown. How it ended, when it has. */
  async watch(id: TerminalId, viewer: TerminalViewer, size?: TerminalSize): Promise<WatchedTerminal | ClosedTerminal> {
    await this.#row(id);
    const held = this.#open.get(id);
    // It may have ended while its row was read.
    if (held === undefined) return closedIn(await this.#row(id));
    const { terminal } = held;
    const resize = (wanted: TerminalSize) => {
      terminal.resize(wanted);
      for (const each of held.viewers) if (each !== viewer) each.onSize(wanted);
    };
    if (size !== undefined) resize(size);
    held.viewers.add(viewer);
    const unwatch = terminal.watch((bytes) => viewer.onOutput(bytes));
    return {
      write: (bytes) => {
        held.lastHeard = performance.now();
        terminal.write(bytes);
      },
      resize,
      leave: () => {
        unwatch();
        held.viewers.delete(viewer);
        held.lastHeard = performance.now();
      },
    };
  }

  /** Undefined when nothing of it is kept. */
  async scrollback(id: TerminalId): Promise<string | undefined> {
    await this.#row(id);
    return (await this.#open.get(id)?.terminal.scrollback()) ?? this.#world.scrollbacks.read(id);
  }

  async close(id: TerminalId): Promise<TerminalView> {
    await this.#row(id);
    const held = this.#open.get(id);
    if (held !== undefined) {
      held.reason = "it was closed";
      await held.terminal.close().catch(unlessGone);
      await held.recorded;
    }
    return this.look(id);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id).catch(() => undefined)));
  }

  #hold(id: TerminalId, terminal: Terminal): Held {
    const held: Held = {
      terminal,
      scrollback: this.#world.scrollbacks.follow(this.#place, id, {
        read: () => terminal.scrollback(),
        over: this.#world.over,
      }),
      viewers: new Set(),
      lastHeard: performance.now(),
      reason: "its program ended",
      recorded: Promise.resolve(),
    };
    const unwatch = terminal.watch(() => {
      held.lastHeard = performance.now();
      held.scrollback.touch();
    });
    held.recorded = terminal.ended
      .then(
        ({ exitCode, scrollback }) => this.#ended(id, held, { exitCode, scrollback }),
        () => this.#ended(id, held, undefined),
      )
      .catch((error: unknown) => {
        if (!this.#world.over.aborted) this.#world.onDefect(`the end of ${id} could not be recorded`, error);
      })
      .finally(unwatch);
    this.#open.set(id, held);
    return held;
  }

  /** Let go by a daemon that stops, it has not ended. */
  async #ended(id: TerminalId, held: Held, end: { exitCode: number; scrollback: string } | undefined): Promise<void> {
    if (this.#world.over.aborted) return;
    const closed: ClosedTerminal =
      end === undefined
        ? { id, reason: held.reason === "it was closed" ? held.reason : "its environment ended" }
        : { id, reason: held.reason, exitCode: end.exitCode };
    Object.assign(closed, addressed(await this.#keep(id, held, end?.scrollback)));
    await this.#recordClosed(closed);
    this.#open.delete(id);
    for (const viewer of held.viewers) viewer.onClosed(closed);
    // Nobody needs what the environment wrote down of it any more.
    void held.terminal
      .close()
      .catch(() => undefined)
      .then(() => this.#open.size === 0 && this.#world.onNoneLeft?.());
  }

  /** That a store is full keeps no terminal from ending. */
  async #keep(id: TerminalId, { scrollback }: Held, text: string | undefined): Promise<string | undefined> {
    try {
      return await scrollback.finish(text);
    } catch (error) {
      this.#world.onDefect(`what was on ${id} could not be kept`, error);
      return undefined;
    }
  }

  async #recordClosed(closed: ClosedTerminal): Promise<void> {
    await this.#append(
      [event("terminal.closed", closed)],
      { actor: "corral" },
      { key: closed.id, is: { state: "open" } },
    );
  }

  async #append(
    events: readonly NewEvent[],
    by: By,
    guard: { key: string; is: Readonly<Record<string, string>> | null },
  ): Promise<void> {
    this.#world.over.throwIfAborted();
    await this.#world.log.append({
      stream: this.#place,
      ...by,
      events,
      guards: [{ table: "terminals", ...guard }],
    });
  }

  #rows(state?: "open"): Promise<readonly Row[]> {
    const where = { place: this.#place, ...(state === undefined ? {} : { state }) };
    return this.#world.log.rows("terminals", { where, orderBy: "seq" });
  }

  async #row(id: TerminalId): Promise<Row> {
    const row = await this.#world.log.row("terminals", id);
    if (row === undefined || row["place"] !== this.#place)
      throw new CorralError("not-found", `There is no terminal ${id}.`);
    return row;
  }

  #view(row: Row): TerminalView {
    const id = row["key"] as TerminalId;
    const held = this.#open.get(id);
    return held === undefined ? { ...closedIn(row), of: this.#place, state: "closed" } : this.#viewOf(id, held);
  }

  #viewOf(id: TerminalId, { terminal, viewers, scrollback }: Held): TerminalView {
    return {
      id,
      of: this.#place,
      state: "open",
      lasting: terminal.lasting,
      viewers: viewers.size,
      ...terminal.size,
      ...addressed(scrollback.url),
    };
  }
}

interface Held {
  readonly terminal: Terminal;
  readonly scrollback: Scrollback;
  readonly viewers: Set<TerminalViewer>;
  lastHeard: number;
  reason: string;
  /** When its end is on record. */
  recorded: Promise<void>;
}

/** With its environment it has ended, too: one at rest may be closed as soon as nobody is at a terminal in it. */
function unlessGone(error: unknown): void {
  if (!(error instanceof CorralError) || error.code !== "environment.gone") throw error;
}

/** One that is not held and has no end on record was given up while it began. */
function closedIn(row: Row): ClosedTerminal {
  const closed = row["closed"] as string | null;
  return closed === null
    ? { id: row["key"] as TerminalId, reason: "it is not there yet" }
    : (JSON.parse(closed) as EventData<"terminal.closed">);
}

function addressed(scrollback: string | undefined): { scrollback?: string } {
  return scrollback === undefined ? {} : { scrollback };
}

/** Names in environments are words. */
function nameOf(id: TerminalId): string {
  return id.replace("_", "-").slice(0, 30);
}
