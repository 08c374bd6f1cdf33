import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { CorralError, type EnvironmentLimits, event, newId } from "@corral/protocol";
import { type Desk, RunOver, type Surroundings } from "../kinds/index.ts";
import { shortageIn } from "../descriptors/index.ts";
import {
  BridgeKeeping,
  closingOf,
  type Environment,
  type EnvironmentDriver,
  type EnvironmentDrivers,
  type LeftResults,
  type HeldBack,
  planOf,
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
 * A session's workspace and environment, prepared on first use and found again by what the log says.
 *
 * 1. That an environment is open is durable before any command starts in it.
 * 2. An environment found gone is recorded as closed only when another is opened: until then its calls are
 *    judged by what it wrote down.
 * 3. Who looks into a copy before anybody was in it has looked before an environment is opened there.
 * 4. What one that ended by itself wrote is gone before another is opened: it must not stay beside what that one may write.
 * 5. Where its network is `allow`, its way out is open before it is; the daemon keeps it so as long as the environment is on record.
 */
export class SessionSurroundings implements Surroundings {
  readonly #desk: Desk;
  readonly #world: SurroundingsWorld;
  readonly #setup: SetupRun;
  #found: Promise<Found> | undefined;
  #current: Promise<Environment> | undefined;
  /** Into a copy that is yet to be made. Undefined: somebody may be in it by now. */
  #looks: ((fresh: string | undefined) => Promise<void>)[] | undefined = [];
  /** Made ready for work. */
  #ready: { readonly environment: Environment; readonly when: Promise<void> } | undefined;
  readonly #bridge = new BridgeKeeping();
  /** The folder with the socket of the session's proxy, once that is open. */
  #egress: string | undefined;
  /** The environment before the next one ended by itself. */
  #isSuccessor = false;
  /** Of one that ended by itself. */
  #clearing: Promise<void> = Promise.resolve();

  constructor(desk: Desk, world: SurroundingsWorld) {
    this.#desk = desk;
    this.#world = world;
    this.#setup = new SetupRun(desk);
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

  /** One opening at a time; an environment that has ended by itself is replaced by another. */
  async #opened(): Promise<Environment> {
    const before = this.#current;
    const current = await before?.catch(() => undefined);
    if (current?.isOpen === true && this.#isOnRecord(current)) return current;
    // Of several who find it ended one opens another.
    if (current !== undefined && this.#current === before) this.#closed(current);
    return (this.#current ??= this.#open().catch((error: unknown) => {
      this.#current = undefined;
      throw shortageIn(error) ?? error;
    }));
  }

  async earlier(shell?: string): Promise<Awaited<ReturnType<Surroundings["earlier"]>>> {
    const found = await this.#find();
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
    const environment = await this.#current?.catch(() => undefined);
    if (environment?.isOpen === true) await environment.look?.();
  }

  /** Resolves when nothing is being opened. */
  async settled(): Promise<void> {
    await this.#current?.catch(() => undefined);
  }

  /** A person has no more patience with the set-up. */
  cancelSetup(): void {
    this.#setup.cancel();
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
    const held = this.#current ?? this.#found?.then((found) => (found.kind === "open" ? found.environment : undefined));
    held?.then(
      (environment) => environment?.detach(),
      () => undefined,
    );
  }

  async #currentOrFound(): Promise<Environment | undefined> {
    if (this.#current !== undefined) return this.#current.catch(() => undefined);
    const found = await this.#find();
    return found.kind === "open" ? found.environment : undefined;
  }

  async #open(): Promise<Environment> {
    const [found, egress] = await Promise.all([this.#find(), this.#wayOut()]);
    this.#egress = egress;
    if (found.kind === "gone") this.#isSuccessor = true;
    const environment = found.kind === "open" ? found.environment : await this.#openNew(found);
    this.#found = Promise.resolve({ kind: "open", environment });
    environment.onHeldBack?.((held) => this.#tellOf(held));
    return environment;
  }

  /** The daemon asks about it. Where that cannot be recorded any more, it finds it by itself. */
  #tellOf({ id, names }: HeldBack): void {
    try {
      this.#desk.record(event("workspace.held-back", { id, names: names.map((each) => ({ ...each })) }));
    } catch (error) {
      if (!(error instanceof RunOver)) throw error;
    }
  }

  async #wayOut(): Promise<string | undefined> {
    if (this.#desk.history.settings?.environment.network !== "allow") return undefined;
    return (await this.#desk.call("egress.way-out", {})).folder;
  }

  /** Another party may have ended it: with its workspace, for instance. */
  #isOnRecord({ state }: Environment): boolean {
    return this.#desk.history.environment?.id === state.id;
  }

  #closed(environment: Environment): void {
    const { state } = environment;
    this.#current = undefined;
    this.#found = Promise.resolve({ kind: "none" });
    if (!this.#isOnRecord(environment)) return;
    this.#isSuccessor = true;
    const closing = closingOf("it ended", environment.endedBecause);
    this.#desk.record(event("environment.closed", { id: state.id, ...closing }));
    // What cannot be removed is left to a sweep.
    this.#clearing = this.#desk.durable().then(
      () => environment.end().catch(() => undefined),
      () => undefined,
    );
  }

  #find(): Promise<Found> {
    return (this.#found ??= this.#lookUp());
  }

  async #lookUp(): Promise<Found> {
    const state = this.#desk.history.environment;
    if (state === undefined) return { kind: "none" };
    return this.#world.drivers.reopen(state);
  }

  async #openNew(before: Exclude<Found, { kind: "open" }>): Promise<Environment> {
    const wish = this.#desk.history.settings?.environment;
    if (wish === undefined) throw new CorralError("internal", "the session has no settings");
    const driver = this.#world.drivers.of(wish.kind);
    const workspace = await this.#workspace(driver);
    await this.#letLook(workspace);
    await this.#clearing;
    // Files that are being restored are no place to lay walls around.
    await this.#desk.call("workspaces.snapshotted", {});
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
        ...(this.#egress === undefined ? {} : { egress: this.#egress }),
        variables: workspace.variables,
        heldBackFor: this.#desk.session,
      }),
    );
    try {
      await this.#recordOpened(environment, before.kind === "gone" ? before.reason : undefined);
      if (this.#isSuccessor) environment.shell.takePlace();
      this.#isSuccessor = false;
      warmUp(environment);
      return environment;
    } catch (error) {
      await environment.end();
      throw error;
    }
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

  /** An environment that cannot be put on record must not stay. */
  async #recordOpened(environment: Environment, endedBecause: string | undefined): Promise<void> {
    const before = this.#desk.history.environment;
    if (before !== undefined)
      this.#desk.record(
        event("environment.closed", { id: before.id, ...closingOf("it was found ended", endedBecause) }),
      );
    this.#desk.record(event("environment.opened", { state: environment.state }));
    await this.#desk.durable();
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

type Found =
  | { readonly kind: "none" }
  | { readonly kind: "open"; readonly environment: Environment }
  | { readonly kind: "gone"; readonly results: LeftResults; readonly reason?: string | undefined };
