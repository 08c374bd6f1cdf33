import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { CorralError, type EnvironmentLimits, event, type EventData, newId } from "@corral/protocol";
import { type Desk, RunOver, type Surroundings } from "../kinds/index.ts";
import { shortageIn } from "../descriptors/index.ts";
import {
  BridgeKeeping,
  closingOf,
  type Environment,
  type EnvironmentDriver,
  type EnvironmentDrivers,
  EnvironmentHolder,
  type HeldBack,
  type OpenAndRecord,
  planOf,
  type Replaced,
} from "../environments/index.ts";
import {
  forkPack,
  openInPlace,
  prepareWorkspace,
  sparesFolder,
  type Workspace,
  workspaceFolder,
} from "../workspaces/index.ts";
import { SetupRun } from "./setup.ts";

/**
 * A session's workspace and environment, prepared on first use and found again by what the log says. The environment is held by an
 * `EnvironmentHolder`, which promises the order of opening, recording and replacing.
 *
 * 1. An environment is durably on record before any command starts in it.
 * 2. An environment that was found gone is recorded as closed only when another is opened. Until then its calls are judged by its spool.
 * 3. Reads of a fresh copy finish before any environment opens in it.
 * 4. If the network is `allow`, the proxy is open before the environment is. The daemon keeps it open as long as the environment is on record.
 */
export class SessionSurroundings implements Surroundings {
  readonly #desk: Desk;
  readonly #world: SurroundingsWorld;
  readonly #setup: SetupRun;
  readonly #holder: EnvironmentHolder;
  /** Reads of a copy that is yet to be made. Undefined: somebody may be in it by now. */
  #looks: ((fresh: string | undefined) => Promise<void>)[] | undefined = [];
  /** Made ready for work. */
  #ready: { readonly environment: Environment; readonly when: Promise<void> } | undefined;
  readonly #bridge = new BridgeKeeping();
  /** The folder with the socket of the session's proxy, once that is open. */
  #egress: string | undefined;

  constructor(desk: Desk, world: SurroundingsWorld) {
    this.#desk = desk;
    this.#world = world;
    this.#setup = new SetupRun(desk);
    this.#holder = new EnvironmentHolder({
      drivers: world.drivers,
      recorded: () => desk.history.environment,
      prepare: () => this.#openWayOut(),
      openNew: (_by, open) => this.#openNew(open),
      opened: (environment, before) => this.#recordOpened(environment, before),
      ended: (environment, closing) => this.#clearAway(environment, closing),
      onHeld: (environment) => environment.onHeldBack?.((held) => this.#tellOf(held)),
      onSuccessor: ({ shell }) => shell.takePlace(),
    });
  }

  /** Programs in it find the way out, if there is one, from the first command on. */
  async environment(): Promise<Environment> {
    const environment = await this.#opened();
    await this.#madeReady(environment);
    if (this.#egress !== undefined) await this.#bridge.ready(environment);
    return environment;
  }

  place(): Promise<Environment> {
    return this.#opened();
  }

  async untouched<T>(look: (folder: string) => Promise<T>): Promise<T | undefined> {
    const { workspace, environment } = this.#desk.history;
    if (this.#looks === undefined || workspace !== undefined || environment !== undefined) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    this.#looks.push(async (fresh) => {
      if (fresh !== undefined) await look(fresh).then(resolve, reject);
    });
    this.#opened().then(() => resolve(undefined), reject);
    return promise;
  }

  /** Once for each environment, unless it failed: then whoever comes next has it tried again. */
  async #madeReady(environment: Environment): Promise<void> {
    if (this.#ready?.environment !== environment)
      this.#ready = { environment, when: this.#setup.complete(environment) };
    const { when } = this.#ready;
    try {
      await when;
    } catch (error) {
      if (this.#ready?.when === when) this.#ready = undefined;
      throw error;
    }
  }

  #opened(): Promise<Environment> {
    return this.#holder.open().catch((error: unknown) => {
      throw shortageIn(error) ?? error;
    });
  }

  async earlier(shell?: string): Promise<Awaited<ReturnType<Surroundings["earlier"]>>> {
    const found = await this.#holder.find();
    switch (found.kind) {
      case "none":
        return found;
      case "open": {
        const { environment } = found;
        return { kind: "open", results: shell === undefined ? environment.shell : environment.openShell(shell) };
      }
      case "gone":
        return { kind: "gone", results: shell === undefined ? found.results : found.results.ofShell(shell) };
    }
  }

  /** An interrupt is not held up by it. */
  kept(): Promise<void> {
    const { signal } = this.#desk;
    const kept = this.#desk.call("workspaces.snapshotted", {}, { signal }).then(
      () => undefined,
      (error: unknown) => {
        if (!signal.aborted) throw error;
      },
    );
    // Whoever waits for it may fail first.
    kept.catch(() => undefined);
    return kept;
  }

  /** Takes aside what is left in the user's own folder of names that others obey, as far as an environment is open. */
  async look(): Promise<void> {
    const environment = await this.#holder.current();
    if (environment?.isOpen === true) await environment.look?.();
  }

  /** Resolves when nothing is being opened. */
  settled(): Promise<void> {
    return this.#holder.settled();
  }

  /** A person has no more patience with the set-up. */
  cancelSetup(): void {
    this.#setup.cancel();
  }

  /** Ends the environment, if one is open; called when the session rests and the daemon stops. */
  async end(reason: string): Promise<void> {
    await this.#holder.end();
    const { environment } = this.#desk.history;
    if (environment === undefined) return;
    this.#desk.record(event("environment.closed", { id: environment.id, reason }));
    await this.#desk.durable();
  }

  /** Stops holding the environment without ending anything. */
  detach(): void {
    this.#holder.detach();
  }

  /** The daemon asks about it. Where that cannot be recorded any more, it finds it by itself. */
  #tellOf({ id, names }: HeldBack): void {
    try {
      this.#desk.record(event("workspace.held-back", { id, names: names.map((each) => ({ ...each })) }));
    } catch (error) {
      if (!(error instanceof RunOver)) throw error;
    }
  }

  async #openWayOut(): Promise<void> {
    if (this.#desk.history.settings?.environment.network !== "allow") return;
    this.#egress = (await this.#desk.call("egress.way-out", {})).folder;
  }

  /** What cannot be removed is left to a sweep. */
  async #clearAway(ended: Environment, closing: Omit<EventData<"environment.closed">, "id">): Promise<void> {
    this.#desk.record(event("environment.closed", { id: ended.state.id, ...closing }));
    await this.#desk.durable().then(
      () => ended.end().catch(() => undefined),
      () => undefined,
    );
  }

  async #openNew(open: OpenAndRecord): Promise<Environment | undefined> {
    const wish = this.#desk.history.settings?.environment;
    if (wish === undefined) throw new CorralError("internal", "the session has no settings");
    const workspace = await this.#workspace(this.#world.drivers.of(wish.kind));
    await this.#letLook(workspace);
    // No walls are built around files that are being restored.
    await this.#desk.call("workspaces.snapshotted", {});
    const plan = planOf({
      id: newId("environment"),
      workspace: workspace.path,
      access: wish.access ?? "write",
      readable: workspace.readable,
      network: wish.network,
      image: wish.image,
      volumes: wish.volumes ?? {},
      limits: this.#world.limits,
      ...(this.#egress === undefined ? {} : { egress: this.#egress }),
      variables: workspace.variables,
      heldBackFor: this.#desk.session,
    });
    const environment = await open(wish.kind, plan);
    if (environment !== undefined) warmUp(environment);
    return environment;
  }

  async #letLook({ path, way }: { readonly path: string; readonly way?: Workspace["way"] | undefined }): Promise<void> {
    const looks = this.#looks ?? [];
    this.#looks = undefined;
    await Promise.all(looks.map((look) => look(way === "in place" ? undefined : path)));
    if (looks.length > 0) await this.#letAsk();
  }

  /** Who looked asks the model next, who takes longer than the opening; the processor is theirs until that is on its way. */
  async #letAsk(): Promise<void> {
    await setImmediate();
    await this.#desk.durable();
    await delay(headStartMs);
  }

  async #recordOpened({ state }: Environment, replaced: Replaced): Promise<"recorded"> {
    const before = this.#desk.history.environment;
    const reason = replaced.kind === "gone" ? replaced.reason : undefined;
    if (before !== undefined)
      this.#desk.record(event("environment.closed", { id: before.id, ...closingOf("it was found ended", reason) }));
    this.#desk.record(event("environment.opened", { state }));
    await this.#desk.durable();
    return "recorded";
  }

  async #workspace({ newOwner }: EnvironmentDriver) {
    const { history } = this.#desk;
    if (history.workspace !== undefined) return history.workspace;
    const workspace = await this.#prepare(newOwner);
    const { path, branch, base, head, readable, variables, remotes, notes, way, owner, extras, skipped } = workspace;
    this.#desk.record(
      event("workspace.prepared", {
        ...{ path, branch, base, way, readable: [...readable], variables: { ...variables } },
        ...(head === base || head === "" ? {} : { head }),
        remotes: remotes.map((remote) => ({ ...remote })),
        lacks: { submodules: [...notes.submodules], lfs: notes.lfs },
        ...(owner && { uid: owner.uid }),
        extras: [...extras],
        skipped: skipped.slice(0, 100).map((each) => ({ ...each })),
      }),
    );
    return workspace;
  }

  #prepare(newOwner: EnvironmentDriver["newOwner"]): Promise<Workspace> {
    const { history, session } = this.#desk;
    const { home, repository } = this.#world;
    const branch = `corral/${session}`;
    const fork = history.settings?.fork;
    if (history.settings?.workspace === "in-place")
      return openInPlace(repository, { branch, mayBeRoots: newOwner === undefined });
    return prepareWorkspace({
      repo: repository,
      destination: workspaceFolder(home, session),
      branch,
      from: history.settings?.base,
      start: history.leftAt,
      fork: fork === undefined ? undefined : { commit: fork.commit, pack: forkPack(home, session) },
      extras: history.settings?.copyList,
      spares: sparesFolder(home),
      newOwner,
    });
  }
}

/** What reads files in there takes some time to begin, which the model would wait for: with the next thing that is said to it, or when it reads one. */
function warmUp({ files }: Environment): void {
  files.stat(".").catch(() => undefined);
}

/** A request is on its way within one or two. */
const headStartMs = 4;

export interface SurroundingsWorld {
  readonly home: string;
  readonly repository: string;
  readonly limits: EnvironmentLimits;
  readonly drivers: EnvironmentDrivers;
}
