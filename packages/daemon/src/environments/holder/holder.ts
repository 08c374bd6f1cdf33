import type { EnvironmentKind, EnvironmentState, EventData } from "@corral/protocol";
import type { EnvironmentDrivers } from "../drivers/drivers.ts";
import { closingOf } from "../ending/closing.ts";
import type { Environment, EnvironmentPlan, LeftResults } from "../port.ts";

/**
 * Holds the environment of one session, one person's shell or one shell of the library: opens it on first use, finds it again by
 * what is on record, and replaces one that ended by itself. Where it is recorded is up to the caller.
 *
 * 1. One opening runs at a time. Everyone who asks meanwhile gets the same environment.
 * 2. An environment is handed out only after it was recorded. One that cannot be recorded is ended.
 * 3. An environment that ended while it was held is recorded as closed, and what it left is removed, before another is opened: the
 *    two must not write side by side. One that was found ended is replaced on record by the next, in one step. Until then its
 *    commands are judged by the results in its spool.
 * 4. If another process records an environment first, the one opened here is ended, and the other one is found.
 */
export class EnvironmentHolder<By = void> {
  readonly #options: HolderOptions<By>;
  /** The lookup of what is on record, and then what is held. */
  #found: Promise<FoundEnvironment> | undefined;
  #current: Promise<Environment> | undefined;
  /** Records the end of the one before, and removes what it left. */
  #clearing: Promise<void> | undefined;
  /** The environment before the next one ended by itself. */
  #isSuccessor = false;

  constructor(options: HolderOptions<By>) {
    this.#options = options;
  }

  /** The environment, recorded and open, as far as is known. */
  async open(by: By): Promise<Environment> {
    const before = this.#current;
    const current = await before?.catch(() => undefined);
    if (current?.isOpen === true && this.#isOnRecord(current)) return current;
    // Of several who find it ended, one replaces it.
    if (current !== undefined && this.#current === before) this.#leave(current);
    if (this.#clearing !== undefined) await this.#clearing;
    return (this.#current ??= this.#open(by).catch((error: unknown) => {
      this.#current = undefined;
      this.#options.onFailure?.();
      throw error;
    }));
  }

  /** What is on record, without opening another: `gone` if its processes have ended. */
  find(): Promise<FoundEnvironment> {
    return (this.#found ??= this.#lookUp().catch((error: unknown) => {
      this.#found = undefined;
      throw error;
    }));
  }

  /** The environment that is held, if one is, open or not. Waits while it is being opened. */
  async current(): Promise<Environment | undefined> {
    return this.#current?.catch(() => undefined);
  }

  /** Resolves when nothing is being opened. */
  async settled(): Promise<void> {
    await this.#clearing?.catch(() => undefined);
    await this.current();
  }

  /** Ends the environment that is held, or on record. That it was closed is for the caller to record. */
  async end(): Promise<void> {
    const current = this.#current;
    await (await this.#held())?.end();
    if (this.#current !== current) return;
    this.#current = undefined;
    this.#found = undefined;
  }

  /** Stops holding it without ending anything. */
  detach(): void {
    if (this.#current === undefined && this.#found === undefined) return;
    this.#held().then(
      (environment) => environment?.detach(),
      () => undefined,
    );
  }

  async #held(): Promise<Environment | undefined> {
    if (this.#current !== undefined) return this.current();
    const found = await this.find();
    return found.kind === "open" ? found.environment : undefined;
  }

  #leave(ended: Environment): void {
    this.#current = undefined;
    this.#found = undefined;
    // Otherwise somebody else has ended it, and recorded that.
    if (!this.#isOnRecord(ended)) return;
    this.#isSuccessor = true;
    this.#clearing = this.#options
      .ended(ended, closingOf("it ended", ended.endedBecause))
      .finally(() => (this.#clearing = undefined));
  }

  #isOnRecord({ state }: Environment): boolean {
    return this.#options.recorded()?.id === state.id;
  }

  async #lookUp(): Promise<FoundEnvironment> {
    const state = this.#options.recorded();
    return state === undefined ? { kind: "none" } : { state, ...(await this.#options.drivers.reopen(state)) };
  }

  async #open(by: By): Promise<Environment> {
    for (;;) {
      const [found] = await Promise.all([this.find(), this.#options.prepare?.(by)]);
      if (found.kind === "gone") this.#isSuccessor = true;
      const environment = found.kind === "open" ? found.environment : await this.#openNew(found, by);
      this.#found = environment && Promise.resolve({ kind: "open", state: environment.state, environment });
      if (environment === undefined) continue;
      this.#options.onHeld?.(environment);
      return environment;
    }
  }

  #openNew(before: Replaced, by: By): Promise<Environment | undefined> {
    return this.#options.openNew(by, async (kind, plan) => {
      const environment = await this.#options.drivers.of(kind).open(plan);
      try {
        if ((await this.#options.opened(environment, before, by)) === "outrun") {
          await environment.end();
          return undefined;
        }
        if (this.#isSuccessor) this.#options.onSuccessor?.(environment);
        this.#isSuccessor = false;
        return environment;
      } catch (error) {
        await environment.end();
        throw error;
      }
    });
  }
}

export interface HolderOptions<By> {
  readonly drivers: EnvironmentDrivers;
  /** The environment that is on record. */
  recorded(): EnvironmentState | undefined;
  /** What is needed while an environment is held, found or new. Runs beside the lookup. */
  prepare?(by: By): Promise<void>;
  /** Prepares what a new environment needs, and has it opened by `open`. Returns what that returned. */
  openNew(by: By, open: OpenAndRecord): Promise<Environment | undefined>;
  /**
   * Records that it is open, in the place of the one before. Durable when it resolves. `outrun`: another process has recorded one first. If it
   * rejects, the environment is ended.
   */
  opened(environment: Environment, before: Replaced, by: By): Promise<"recorded" | "outrun">;
  /** It ended by itself while it was held. Records that at once, and removes what it left. */
  ended(environment: Environment, closing: EnvironmentClosing): Promise<void>;
  /** Told of each environment once it is held. */
  onHeld?(environment: Environment): void;
  /** Told of a new environment when the one before ended by itself. */
  onSuccessor?(environment: Environment): void;
  /** Told when an opening has failed: nothing is held. */
  onFailure?(): void;
}

/** Undefined: another process was first. */
export type OpenAndRecord = (kind: EnvironmentKind, plan: EnvironmentPlan) => Promise<Environment | undefined>;

export type FoundEnvironment =
  | { readonly kind: "none" }
  | { readonly kind: "open"; readonly state: EnvironmentState; readonly environment: Environment }
  | {
      readonly kind: "gone";
      readonly state: EnvironmentState;
      readonly results: LeftResults;
      /** Why it was ended, in words for people, where that is known. */
      readonly reason?: string | undefined;
    };

/** What a new environment takes the place of. */
export type Replaced = Exclude<FoundEnvironment, { readonly kind: "open" }>;

export type EnvironmentClosing = Omit<EventData<"environment.closed">, "id">;
