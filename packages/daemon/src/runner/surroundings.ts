import { CorralError, type EnvironmentLimits, event, newId } from "@corral/protocol";
import type { Desk, Surroundings } from "../agents/index.ts";
import {
  type CommandResults,
  type Environment,
  type EnvironmentDriver,
  type EnvironmentDrivers,
  planOf,
} from "../environments/index.ts";
import { prepareWorkspace, workspaceFolder } from "../workspaces/index.ts";

/**
 * A session's workspace and environment, prepared on first use and found again by what the log says.
 *
 * 1. That an environment is open is durable before any command starts in it.
 * 2. An environment found gone is recorded as closed only when another is opened: until then its calls are
 *    judged by what it wrote down.
 */
export class SessionSurroundings implements Surroundings {
  readonly #desk: Desk;
  readonly #world: SurroundingsWorld;
  #found: Promise<Found> | undefined;
  #current: Promise<Environment> | undefined;

  constructor(desk: Desk, world: SurroundingsWorld) {
    this.#desk = desk;
    this.#world = world;
  }

  /** One opening at a time; an environment that has ended by itself is replaced by another. */
  async environment(): Promise<Environment> {
    const current = await this.#current?.catch(() => undefined);
    if (current?.isOpen === true) return current;
    if (current !== undefined) this.#closed(current);
    return (this.#current ??= this.#open().catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    }));
  }

  async earlier(): Promise<Awaited<ReturnType<Surroundings["earlier"]>>> {
    const found = await this.#find();
    if (found.kind === "none") return found;
    return { kind: found.kind, results: found.kind === "open" ? found.environment.shell : found.results };
  }

  /** Ends the environment, if one is open; called when the session rests and the daemon stops. */
  async end(reason: string): Promise<void> {
    if (this.#current === undefined && this.#desk.history.environment === undefined) return;
    const environment = await this.#currentOrFound();
    await environment?.end();
    if (this.#desk.history.environment !== undefined) {
      this.#desk.record(event("environment.closed", { id: this.#desk.history.environment.id, reason }));
      await this.#desk.durable();
    }
  }

  /** Lets go without ending anything. */
  detach(): void {
    this.#current?.then(
      (environment) => environment.detach(),
      () => undefined,
    );
  }

  async #currentOrFound(): Promise<Environment | undefined> {
    if (this.#current !== undefined) return this.#current.catch(() => undefined);
    const found = await this.#find();
    return found.kind === "open" ? found.environment : undefined;
  }

  async #open(): Promise<Environment> {
    const found = await this.#find();
    return found.kind === "open" ? found.environment : this.#openNew();
  }

  #closed({ state }: Environment): void {
    if (this.#desk.history.environment?.id !== state.id) return;
    this.#current = undefined;
    this.#found = Promise.resolve({ kind: "none" });
    this.#desk.record(event("environment.closed", { id: state.id, reason: "it ended" }));
  }

  #find(): Promise<Found> {
    return (this.#found ??= this.#lookUp());
  }

  async #lookUp(): Promise<Found> {
    const state = this.#desk.history.environment;
    if (state === undefined) return { kind: "none" };
    return this.#world.drivers.reopen(state);
  }

  async #openNew(): Promise<Environment> {
    const wish = this.#desk.history.settings?.environment;
    if (wish === undefined) throw new CorralError("internal", "the session has no settings");
    const driver = this.#world.drivers.of(wish.kind);
    const workspace = await this.#workspace(driver);
    const environment = await driver.open(
      planOf({
        id: newId("environment"),
        workspace: workspace.path,
        access: wish.access ?? "write",
        readable: workspace.readable,
        network: wish.network,
        image: wish.image,
        volumes: wish.volumes ?? {},
        limits: this.#world.limits,
        variables: workspace.variables,
      }),
    );
    try {
      await this.#recordOpened(environment);
      return environment;
    } catch (error) {
      await environment.end();
      throw error;
    }
  }

  /** An environment that cannot be put on record must not stay. */
  async #recordOpened(environment: Environment): Promise<void> {
    const before = this.#desk.history.environment;
    if (before !== undefined)
      this.#desk.record(event("environment.closed", { id: before.id, reason: "it was found ended" }));
    this.#desk.record(event("environment.opened", { state: environment.state }));
    await this.#desk.durable();
  }

  async #workspace({ owner }: EnvironmentDriver) {
    const { history, session } = this.#desk;
    if (history.workspace !== undefined) return history.workspace;
    const { home, repository } = this.#world;
    const workspace = await prepareWorkspace({
      repo: repository,
      destination: workspaceFolder(home, session),
      branch: `corral/${session}`,
      ...(owner === undefined ? {} : { owner }),
    });
    const { path, branch, base, readable, variables } = workspace;
    this.#desk.record(
      event("workspace.prepared", { path, branch, base, readable: [...readable], variables: { ...variables } }),
    );
    return workspace;
  }
}

export interface SurroundingsWorld {
  readonly home: string;
  readonly repository: string;
  readonly limits: EnvironmentLimits;
  readonly drivers: EnvironmentDrivers;
}

type Found =
  | { readonly kind: "none" }
  | { readonly kind: "open"; readonly environment: Environment }
  | { readonly kind: "gone"; readonly results: CommandResults };
