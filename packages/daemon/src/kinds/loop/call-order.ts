import type { Environment } from "../../environments/index.ts";
import type { Call } from "../../sessions/index.ts";
import type { Beside, Toolbox } from "../../tools/index.ts";
import type { Desk } from "../port.ts";
import { FurtherShells } from "./further-shells.ts";
import { isOfShell, standingOf, useOf } from "./shell-history.ts";

/**
 * The order in which a reply's calls start.
 *
 * 1. Calls that only read run side by side. One that can write waits until all before it have ended, and all behind it wait for it.
 * 2. A command only reads if the rules know that. One at a time runs in the session's own shell; the others have further ones. Where that cannot be,
 *    they follow each other.
 * 3. Nobody waits for a call that waits for a person. When the person has spoken it waits for its shell alone.
 * 4. A call that had started before a crash keeps its shell and waits for nobody.
 */
export class CallOrder {
  readonly #desk: Desk;
  readonly #toolbox: Toolbox;
  readonly #further: FurtherShells;
  readonly #tickets: Ticket[] = [];

  constructor(desk: Desk, toolbox: Toolbox) {
    this.#desk = desk;
    this.#toolbox = toolbox;
    this.#further = FurtherShells.of(desk);
  }

  enter(call: Call): Ticket {
    const ticket: Ticket = new Ticket(call, {
      step: () => this.#step(ticket),
      open: (beside, environment) => this.#further.open(beside, environment),
      leave: () => void this.#tickets.splice(this.#tickets.indexOf(ticket), 1),
    });
    if (call.attempt > 0 && isOfShell(call)) ticket.shell = call.beside ?? own;
    this.#tickets.push(ticket);
    return ticket;
  }

  /** What the call has to wait for next; undefined: it may start, and has its shell. */
  #step(ticket: Ticket): Promise<unknown> | undefined {
    const { call } = ticket;
    const blocking = hasPersonSpoken(call) ? [] : this.#blocking(ticket);
    if (blocking.length > 0) return Promise.all(blocking.map(({ left }) => left));
    return isOfShell(call) ? this.#findShell(ticket) : undefined;
  }

  #blocking(ticket: Ticket): readonly Ticket[] {
    const { call } = ticket;
    const before = this.#tickets.slice(0, this.#tickets.indexOf(ticket));
    // Most often it is alone, and nothing need be found out.
    if (before.length === 0 || !this.#onlyReads(call)) return before;
    return before.filter((each) => !this.#onlyReads(each.call));
  }

  #findShell(ticket: Ticket): Promise<unknown> | undefined {
    const others = this.#tickets.filter((each) => each !== ticket && each.shell !== undefined);
    const holder = others.find(({ shell }) => shell === own);
    if (holder === undefined) {
      if (this.#further.mustAsk && this.#onlyReads(ticket.call)) this.#further.ask();
      ticket.shell = own;
      return undefined;
    }
    const room = this.#onlyReads(ticket.call)
      ? this.#further.room((name) => others.some(({ shell }) => shell !== own && shell?.shell === name))
      : "none";
    if (room === "none") return holder.left;
    if ("after" in room) return room.after;
    ticket.shell = room;
    return undefined;
  }

  /** What words say counts only in a shell where they mean what they usually do. */
  #onlyReads(call: Call): boolean {
    if (!isOfShell(call)) return (this.#toolbox.get(call.tool)?.effect ?? "reads") === "reads";
    return useOf(call).onlyReads && standingOf(this.#desk.history.entries).kind !== "unknown";
  }
}

function hasPersonSpoken({ retryDecided, question }: Call): boolean {
  return retryDecided || question?.end !== undefined;
}

/** The session's own shell. */
const own = "own";

/** Holds a call's place in the order until the call has ended or waits for a person. */
export class Ticket {
  readonly call: Call;
  /** Resolves when nobody need wait for the call any more. */
  readonly left: Promise<void>;
  readonly #terms: TicketTerms;
  readonly #leave: () => void;
  #hasStarted = false;
  /** Undefined: in none, or not yet. */
  shell: Beside | typeof own | undefined;

  constructor(call: Call, terms: TicketTerms) {
    this.call = call;
    this.#terms = terms;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.#leave = resolve;
  }

  /** Where the call runs, unless in the session's own shell. */
  get beside(): Beside | undefined {
    return this.shell === own ? undefined : this.shell;
  }

  /** Resolves when the call may start. True: it had to wait, and what was found out about it before may have changed. */
  async mayStart(): Promise<boolean> {
    if (this.#hasStarted) return false;
    let hasWaited = false;
    for (this.shell = undefined; ; hasWaited = true) {
      const until = this.#terms.step();
      if (until === undefined) break;
      await until;
    }
    this.#hasStarted = true;
    return hasWaited;
  }

  /** The call is about to start there. */
  makeReady(environment: Environment): void {
    if (this.beside !== undefined) this.#terms.open(this.beside, environment);
  }

  leave(): void {
    this.#terms.leave();
    this.#leave();
  }
}

interface TicketTerms {
  /** What the call has to wait for; undefined: it may start. */
  step(): Promise<unknown> | undefined;
  open(beside: Beside, environment: Environment): void;
  leave(): void;
}
