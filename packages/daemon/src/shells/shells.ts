import {
  type ClosedShell,
  type CommandId,
  type CommandView,
  CorralError,
  type EnvironmentLimits,
  event,
  newId,
  type OpenShellWish,
  type ShellId,
  type ShellView,
  type ShellWorkspace,
  type StartCommand,
} from "@corral/protocol";
import type { Artifacts } from "../artifacts/index.ts";
import { defaultLimits, type EnvironmentDrivers, shellWishOf, type UsualContainer } from "../environments/index.ts";
import type { By, Log, Row } from "../log/index.ts";
import type { Secrets } from "../secrets/index.ts";
import { HeldShell, type ShellFacts, type WaysOut } from "./held.ts";
import { type Scrollbacks, type Terminals, terminalsOf } from "../terminals/index.ts";
import { copyFor, goesWith, inPlace, type Place, removePlace, scratchFor, unchangedTest } from "./place.ts";

/** Shells of people, each in an environment of its own. The daemon itself holds them; agents' are the runners' work. */
export interface Shells {
  /** Durable when it resolves. With the id of one that was opened before, it is that one. */
  open(wish: OpenShellWish, by: By, id?: ShellId): Promise<ShellView>;
  get(id: ShellId): Promise<ShellView | undefined>;
  /** Those that are not closed. */
  list(): Promise<readonly ShellView[]>;
  /** Durable when it resolves; sent again, it is the same command. Throws `not-found`, `shell.closed`, `command.conflict`. */
  start(id: ShellId, command: StartCommand, by: By): Promise<CommandView>;
  /** How a command stands. Throws `not-found`. */
  look(id: ShellId, command: CommandId): Promise<CommandView>;
  /** Tells output from the command's beginning on, and resolves with its end. Rejects when the daemon stops first. */
  follow(id: ShellId, command: CommandId, onOutput: OnOutput): Promise<CommandView>;
  /** Bytes that a command has written so far, from a place on; none when they are no longer kept. */
  read(id: ShellId, command: CommandId, range: OutputRange): Promise<Buffer>;
  /** Ends a command, or all that runs and waits in it; the shell stays. */
  interrupt(id: ShellId, by: By, command?: CommandId): Promise<{ readonly kind: "interrupted" | "nothing-running" }>;
  readonly terminals: Terminals<ShellId>;
  /** Ends it, and removes its files unless something in them would be lost that git does not ignore. Can be repeated. */
  close(id: ShellId, by: By): Promise<ClosedShell>;
  /** From now on whoever is about to write waits until what ended in the shell is kept in a snapshot, or could not be. */
  snapshotVia(snapshots: { settled(shell: ShellId): Promise<void> }): void;
  /** Ends what runs in it, and does something before anything runs there again. Throws `workspace.busy` while a command runs. */
  atRest<T>(id: ShellId, reason: string, work: () => Promise<T>): Promise<T>;
  /** Takes up what was there when the daemon went away. Whatever is asked of shells waits for it. */
  begin(): Promise<void>;
  /** Lets go: what runs goes on and is found again. */
  stop(): void;
}

export interface OutputRange {
  readonly stream: "stdout" | "stderr";
  readonly from: number;
  readonly limit: number;
}

type OnOutput = (stream: "stdout" | "stderr", text: string) => void;

export interface ShellParts {
  readonly log: Log;
  readonly home: string;
  readonly drivers: EnvironmentDrivers;
  readonly scrollbacks: Scrollbacks;
  readonly artifacts: Pick<Artifacts, "begin">;
  /** What is masked in results and artifacts. */
  readonly secrets: Secrets;
  readonly waysOut: WaysOut;
  /** What an environment may use that is opened now; without: the usual. */
  readonly limits?: () => EnvironmentLimits;
  /** What a container is made of that names nothing itself. */
  readonly usualContainer?: () => UsualContainer;
  readonly onDefect: (what: string, error?: unknown) => void;
  /** How long a shell in which nothing runs keeps its environment. */
  readonly idleMs?: number;
}

const usualIdleMs = 15 * 60_000;

export function openShells({
  log,
  home,
  drivers,
  scrollbacks,
  artifacts,
  secrets,
  waysOut,
  limits = () => defaultLimits,
  usualContainer = () => ({}),
  onDefect,
  idleMs = usualIdleMs,
}: ShellParts): Shells {
  const over = new AbortController();
  const held = new Map<ShellId, HeldShell>();
  let snapshots: { settled(shell: ShellId): Promise<void> } | undefined;
  const snapshotted = async (shell: ShellId) => snapshots?.settled(shell);
  const parts = { log, drivers, scrollbacks, artifacts, secrets, waysOut, limits, snapshotted, onDefect };
  const world = { ...parts, claim, over: over.signal };
  const closing = new Map<ShellId, Promise<ClosedShell>>();
  const begun = Promise.withResolvers<void>();
  const ticking = setInterval(endIdle, Math.min(idleMs, 60_000)).unref();

  return {
    async open(wish, by, id = newId("shell")) {
      const known = await view(id);
      if (known !== undefined) return known;
      const facts = await factsFor(id, wish);
      await log.append({ stream: id, ...by, expectedVersion: 0, events: [event("shell.opened", facts)] });
      return mustView(id);
    },
    get: view,
    list: async () => {
      const seq = await log.head();
      return (await log.rows("shells", { where: { state: "open" } })).map((row) => toView(row, seq));
    },
    start: async (id, command, by) => (await hold(id)).start(command, by),
    look: async (id, command) => (await hold(id, { closedToo: true })).look(command),
    follow: async (id, command, onOutput) => (await hold(id, { closedToo: true })).follow(command, onOutput),
    read: async (id, command, { stream, from, limit }) =>
      (await hold(id, { closedToo: true })).read(command, stream, from, limit),
    interrupt: async (id, by, command) => ({
      kind: (await hold(id)).interrupt(by, command) ? "interrupted" : "nothing-running",
    }),
    terminals: terminalsOf<ShellId>(
      async (id) => (await hold(id, { closedToo: true })).terminals,
      async (id, size, by, terminal = newId("terminal")) => (await hold(id)).openTerminal(terminal, size, by),
    ),
    close(id, by) {
      const joined = closing.get(id) ?? close(id, by).finally(() => closing.delete(id));
      closing.set(id, joined);
      return joined;
    },
    snapshotVia: (given) => void (snapshots = given),
    async atRest(id, reason, work) {
      const shell = await hold(id, { closedToo: true });
      if (closing.has(id)) throw new CorralError("shell.closed", `${id} is being closed.`);
      return shell.atRest(reason, work);
    },
    async begin() {
      for (const row of await log.rows("shells", { where: { state: "open" } })) {
        if (row["environment_state"] === null) continue;
        const shell = new HeldShell(row["key"] as ShellId, row, world);
        held.set(shell.id, shell);
        await shell.recover().catch((error: unknown) => onDefect(`${shell.id} could not be taken up`, error));
      }
      begun.resolve();
    },
    stop() {
      clearInterval(ticking);
      over.abort(new CorralError("daemon.stopping", "The daemon is stopping", { retry: "later" }));
      for (const shell of held.values()) shell.detach();
    },
  };

  async function factsFor(id: ShellId, wish: OpenShellWish): Promise<ShellFacts> {
    const environment = shellWishOf(wish.environment, usualContainer());
    const { projectId } = wish;
    const workspace = wish.workspace ?? (projectId === undefined ? "scratch" : "copy");
    const place = await placeFor(id, workspace, { ...wish, environment });
    const { path, readable, variables, base, owner } = place;
    return {
      environment,
      workspace,
      path,
      readable: [...readable],
      variables: { ...variables },
      ...(projectId === undefined ? {} : { projectId }),
      ...(base === undefined ? {} : { base }),
      ...(owner === undefined ? {} : { uid: owner.uid }),
    };
  }

  async function placeFor(
    id: ShellId,
    workspace: ShellWorkspace,
    wish: OpenShellWish & Pick<ShellFacts, "environment">,
  ): Promise<Place> {
    const { newOwner } = drivers.of(wish.environment.kind);
    if (workspace === "scratch") return scratchFor(id, home, newOwner);
    const repository = await repositoryOf(wish);
    return workspace === "copy"
      ? copyFor(id, { home, repository, newOwner })
      : inPlace(repository, { mayBeRoots: newOwner === undefined });
  }

  async function repositoryOf({ projectId, worktree }: OpenShellWish): Promise<string> {
    if (projectId === undefined)
      throw new CorralError("request.invalid", "Only a shell on a scratch workspace has no project.");
    const row = await log.row("projects", projectId);
    if (row === undefined || row["forgotten"] === 1) throw missing("project", projectId);
    if (worktree === undefined || worktree === row["path"]) return row["path"] as string;
    if ((await log.row("project_paths", worktree))?.["id"] !== projectId)
      throw missing("worktree of the project", worktree);
    return worktree;
  }

  async function hold(id: ShellId, { closedToo = false } = {}): Promise<HeldShell> {
    await begun.promise;
    over.signal.throwIfAborted();
    const row = await log.row("shells", id);
    if (row === undefined) throw missing("shell", id);
    if (row["state"] === "closed" && !closedToo) throw new CorralError("shell.closed", `${id} was closed.`);
    const known = held.get(id);
    if (known !== undefined) return known;
    const shell = new HeldShell(id, row, world);
    if (row["state"] === "open") held.set(id, shell);
    return shell;
  }

  async function close(id: ShellId, by: By): Promise<ClosedShell> {
    const row = await log.row("shells", id);
    if (row === undefined) throw missing("shell", id);
    if (row["state"] === "closed") return { id };
    const shell = await hold(id);
    shell.interrupt(by);
    const going = await goingWith(shell);
    await shell.end("the shell was closed");
    const keeping = going === undefined ? { kept: shell.facts.path } : {};
    await log.append({ stream: id, ...by, events: [event("shell.closed", { reason: "it was closed", ...keeping })] });
    held.delete(id);
    if (going !== undefined && shell.facts.workspace !== "in-place") await removePlace(shell.facts).catch(complain(id));
    return { id, ...keeping, ...going };
  }

  /** What goes with its files; undefined: they are worth keeping. */
  async function goingWith(shell: HeldShell): Promise<Pick<ClosedShell, "ignored"> | undefined> {
    if (shell.facts.workspace === "in-place") return {};
    if (!(await hasRun(shell.id))) return {};
    return goesWith(await shell.ask(await unchangedTest(shell.facts)));
  }

  async function hasRun(shell: ShellId): Promise<boolean> {
    const one = { orderBy: "seq", limit: 1 };
    const used = await Promise.all([
      log.rows("shell_commands", { where: { shell }, ...one }),
      log.rows("terminals", { where: { place: shell }, ...one }),
    ]);
    return used.some((rows) => rows.length > 0);
  }

  /** One at a time in a person's own folder: two would trip over each other. */
  function claim(shell: HeldShell): void {
    const { workspace, path } = shell.facts;
    if (workspace !== "in-place") return;
    const other = [...held.values()].find(
      (each) => each !== shell && each.isOpen && each.facts.workspace === "in-place" && each.facts.path === path,
    );
    if (other !== undefined) throw busy(path, other.id);
  }

  function endIdle(): void {
    for (const shell of held.values()) {
      if (shell.isIdleFor(idleMs)) shell.end("it was idle").catch(complain(shell.id));
    }
  }

  function complain(id: ShellId): (error: unknown) => void {
    return (error) => {
      if (!over.signal.aborted) onDefect(`${id} could not be ended`, error);
    };
  }

  async function view(id: ShellId): Promise<ShellView | undefined> {
    const seq = await log.head();
    const row = await log.row("shells", id);
    return row === undefined ? undefined : toView(row, seq);
  }

  async function mustView(id: ShellId): Promise<ShellView> {
    const found = await view(id);
    if (found === undefined) throw missing("shell", id);
    return found;
  }
}

function toView(row: Row, seq: number): ShellView {
  const { projectId, environment, workspace, path } = JSON.parse(row["facts"] as string) as ShellFacts;
  const open = row["environment_state"] === null ? "resting" : "open";
  return {
    id: row["key"] as ShellId,
    ...(projectId === undefined ? {} : { projectId }),
    environment,
    workspace,
    path,
    actor: row["actor"] as string,
    state: row["state"] === "closed" ? "closed" : open,
    seq,
  };
}

function busy(path: string, other: ShellId): CorralError {
  return new CorralError("workspace.busy", `Another shell works in ${path}: ${other}.`, {
    hint: `Leave that one first (\`corral shell --end ${other}\` ends it), or work on a copy.`,
    retry: "later",
  });
}

function missing(noun: string, id: string): CorralError {
  return new CorralError("not-found", `There is no ${noun} ${id}.`);
}
