import {
  type CommandResult,
  CorralError,
  environmentAsked,
  type EnvironmentAsked,
  environmentLimits,
  type EnvironmentLimits,
  type EnvironmentState,
  type EnvironmentWish,
  newId,
} from "@corral/protocol";
import { resolve } from "node:path";
import * as z from "zod";
import {
  defaultLimits,
  type Environment,
  type EnvironmentDrivers,
  EnvironmentHolder,
  planOf,
  aloneWishOf,
} from "../environments/index.ts";
import { ShellRecords } from "./records.ts";
import { makeScratch, removeScratch, scratchFolder } from "./scratch.ts";

/**
 * A shell that a program opens for itself, without a daemon.
 *
 * 1. Only one reader in a process may listen to an environment. So a process holds it once, however many shells share it, and detaches
 *    with the last of them.
 * 2. The first process to record an environment wins; a second one finds it there.
 */
export interface OpenShell extends AsyncDisposable {
  /** By this name the same shell is found again, from this process or another one. */
  readonly session: string;
  readonly environment: EnvironmentWish;
  /** Host path of the files it works on. */
  readonly workspace: string;
  /** Whether it was opened now; otherwise it was found, with its folder and variables as they were left. */
  readonly isNew: boolean;
  /**
   * Runs a command after those before it: `cd`, variables and functions stay. Its exit code, output and limits are in the
   * result. Rejects with `environment.gone` when the shell ended before the command did.
   */
  run(text: string, options?: RunOptions): Promise<CommandResult>;
  /** Lets go: the shell and what runs in it go on, for a while, to be found again. */
  detach(): void;
  /** Ends the shell and all that it started. A workspace that was made for it goes, too. */
  close(): Promise<void>;
}

export interface RunOptions {
  /** When it is ended, with all that it started. Default: an hour. */
  readonly timeoutMs?: number;
  /** Aborted, it ends the command, which resolves with what it had written. */
  readonly signal?: AbortSignal;
  /** Live output. What it throws, `run` rejects with when the command has ended. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => void;
  /** Letters, digits, `_` and `-`: run again under the same id, by whomever, it is the same command and runs once. */
  readonly id?: string;
}

export interface ShellOptions {
  /** Default: a jail without network. A container needs an `image`. `local` has no walls: UNSAFE. */
  readonly environment?:
    | EnvironmentAsked["kind"]
    | (Partial<EnvironmentAsked> & { readonly limits?: Partial<EnvironmentLimits> });
  /** Letters, digits, `.`, `_` and `-`. Without: a new one. */
  readonly session?: string;
  /** The folder to work on, seen in a jail as /workspace; a relative one is from where the program is. Without: an empty one of the session's own. */
  readonly workspace?: string;
  /** Added to the few variables that a jail has. Never a secret. */
  readonly variables?: Readonly<Record<string, string>>;
}

/**
 * Finds the shell of a session, or opens it. Several processes that do so at once get the same one: the first to put it
 * on record wins, and the others end what they opened.
 */
export async function findOrOpenShell(
  drivers: EnvironmentDrivers,
  folder: string,
  options: ShellOptions,
): Promise<OpenShell> {
  checked(optionsGiven, options);
  const { session = newId("session"), workspace } = options;
  // Whatever folder the program is in later, it is this one.
  const wish = workspace === undefined ? options : { ...options, workspace: resolve(workspace) };
  const asked = askedFor(wish);
  const records = new ShellRecords(folder, session);
  const holding = hold(drivers, records);
  const call: Call = { wish };
  try {
    const environment = await holding.holder.open(call);
    const isNew = call.opened === environment;
    if (!isNew) {
      mustBeSame(session, asked, environment.state, wish);
      mustHaveLimits(session, wish, records.newest()?.limits);
    }
    return shellAt({ environment, release: holding.release }, { session, records, isNew });
  } catch (error) {
    holding.release();
    throw error;
  }
}

/** One call for a shell, and the environment that was opened for it. */
interface Call {
  readonly wish: ShellOptions;
  opened?: Environment | undefined;
}

/** What this process holds, by the folder of its records. Several shells, and calls for them, may share one. */
const shared = new Map<string, Shared>();

interface Shared {
  readonly holder: EnvironmentHolder<Call>;
  /** Held before, and ended by themselves. */
  readonly ended: Environment[];
  shares: number;
}

/** A share of this process's holder for a session. With the last share its environment is let go. `release` can be repeated. */
function hold(drivers: EnvironmentDrivers, records: ShellRecords) {
  const entry = shared.get(records.path) ?? newShared(drivers, records);
  shared.set(records.path, entry);
  entry.shares += 1;
  let isMine = true;
  const release = () => {
    if (!isMine) return;
    isMine = false;
    entry.shares -= 1;
    if (entry.shares > 0) return;
    shared.delete(records.path);
    entry.holder.detach();
    for (const environment of entry.ended) environment.detach();
  };
  return { holder: entry.holder, release };
}

function newShared(drivers: EnvironmentDrivers, records: ShellRecords): Shared {
  const ended: Environment[] = [];
  const holder = new EnvironmentHolder<Call>({
    drivers,
    recorded: () => records.newest()?.state,
    async openNew(call, open) {
      const { kind, plan } = await planFor(drivers, records, call.wish);
      return (call.opened = await open(kind, plan));
    },
    async opened({ state }, before, { wish }) {
      const last = records.newest();
      const isSame = last?.state.id === (before.kind === "gone" ? before.state.id : undefined);
      return isSame && records.add(state, last, limitsIn(wish)) ? "recorded" : "outrun";
    },
    // Shells that share it may still read results from its spool. A sweep removes it.
    async ended(environment) {
      ended.push(environment);
    },
  });
  return { holder, ended, shares: 0 };
}

async function planFor(drivers: EnvironmentDrivers, { folder, session }: ShellRecords, options: ShellOptions) {
  const wish = aloneWishOf(askedFor(options));
  const { newOwner } = drivers.of(wish.kind);
  await drivers.sweep({ onRecord: ShellRecords.all(folder), onFailure: () => undefined });
  const plan = planOf({
    id: newId("environment"),
    workspace: options.workspace ?? (await makeScratch(folder, session, newOwner)).path,
    network: wish.network,
    image: wish.image,
    volumes: wish.volumes ?? {},
    access: wish.access ?? "write",
    limits: limitsIn(options),
    variables: options.variables ?? {},
  });
  return { kind: wish.kind, plan };
}

function shellAt(
  { environment, release }: { readonly environment: Environment; readonly release: () => void },
  { session, records, isNew }: { session: string; records: ShellRecords; isNew: boolean },
): OpenShell {
  const { kind, network, access, workspace } = environment.state;
  let isLeft = false;
  const close = async () => {
    await environment.end();
    release();
    // One that has ended may have been followed by another of its name.
    const { id = environment.state.id } = records.newest()?.state ?? {};
    if (id !== environment.state.id) return;
    await records.remove();
    if (workspace === scratchFolder(records.folder, session)) await removeScratch(workspace);
  };
  return {
    session,
    environment: { kind, network, access },
    workspace,
    isNew,
    async run(text, options = {}) {
      checked(runGiven, options);
      const { id, timeoutMs = 3_600_000, ...rest } = options;
      const command = checked(commandGiven, { id: id ?? newId("command"), text, timeoutMs });
      if (isLeft) throw new CorralError("environment.gone", "The shell was let go.", { hint: "Open it again." });
      const listening = listen(rest.onOutput);
      const result = await environment.shell.run({ ...command, ...rest, ...listening.options });
      if (id === undefined) environment.shell.forget(command.id);
      listening.mustHaveTaken();
      return result;
    },
    detach() {
      isLeft = true;
      release();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What the program's own listener throws is the program's to hear: the shell goes on. */
function listen(onOutput: RunOptions["onOutput"]) {
  if (onOutput === undefined) return { options: {}, mustHaveTaken: () => undefined };
  const thrown: unknown[] = [];
  const sheltered: NonNullable<RunOptions["onOutput"]> = (stream, text) => {
    if (thrown.length > 0) return;
    try {
      onOutput(stream, text);
    } catch (error) {
      thrown.push(error);
    }
  };
  const mustHaveTaken = () => {
    if (thrown.length > 0) throw thrown[0];
  };
  return { options: { onOutput: sheltered }, mustHaveTaken };
}

function askedFor({ environment = "jail" }: ShellOptions): EnvironmentAsked {
  const { limits: _limits, ...asked } = givenIn(environment);
  return asked;
}

function limitsIn({ environment = "jail" }: ShellOptions): EnvironmentLimits {
  return checked(environmentLimits, { ...defaultLimits, ...givenIn(environment).limits });
}

function givenIn(environment: NonNullable<ShellOptions["environment"]>): z.infer<typeof environmentGiven> {
  return checked(environmentGiven, typeof environment === "string" ? { kind: environment } : environment);
}

/** Strictly: a wall that was asked for with a slip of the pen is not left out. */
const environmentGiven = z.strictObject({
  ...environmentAsked.shape,
  limits: z.strictObject(environmentLimits.shape).partial().optional(),
});

/** Strictly as well: what stands in the wrong place is no wall either. */
const optionsGiven = z.strictObject({
  environment: z.unknown().optional(),
  session: z.string().optional(),
  workspace: z.string().optional(),
  variables: z.record(z.string().regex(/^[^=\0]+$/), z.string().regex(/^[^\0]*$/)).optional(),
});

const runGiven = z.strictObject({
  id: z.unknown().optional(),
  timeoutMs: z.unknown().optional(),
  signal: z.instanceof(AbortSignal).optional(),
  onOutput: z.custom((given) => typeof given === "function").optional(),
});

const commandGiven = z.object({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, "An id has letters, digits, _ and -, a hundred at most"),
  text: z.string(),
  timeoutMs: z.number().positive(),
});

/** Programs need not be type-checked, and what an environment cannot make sense of would end it. */
function checked<T>(schema: z.ZodType<T>, given: unknown): T {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  throw new CorralError("request.invalid", `A shell cannot be asked for that: ${z.prettifyError(error)}`);
}

/** Nobody gets fewer walls than asked for, nor other files, because the name was taken. */
function mustBeSame(
  session: string,
  asked: EnvironmentAsked,
  state: EnvironmentState,
  { workspace }: ShellOptions,
): void {
  const wish = aloneWishOf(asked);
  const differs = (["kind", "network", "access"] as const).filter((each) => wish[each] !== state[each]);
  if (workspace !== undefined && workspace !== state.workspace) throw taken(session, `works on ${state.workspace}`);
  if (wish.image !== undefined && wish.image !== state.container?.image)
    throw taken(session, `has the image ${state.container?.image}`);
  if (differs.length > 0) throw taken(session, `has ${differs.map((each) => `${each} ${state[each]}`).join(", ")}`);
}

/** Those that are named: whoever names none takes what there is. */
function mustHaveLimits(session: string, { environment = "jail" }: ShellOptions, has: Partial<EnvironmentLimits> = {}) {
  const named = Object.entries(givenIn(environment).limits ?? {}) as [keyof EnvironmentLimits, number][];
  const differs = named
    .filter(([name, limit]) => has[name] !== limit)
    .map(([name]) => `${name} ${has[name] ?? "unknown"}`);
  if (differs.length > 0) throw taken(session, `has ${differs.join(", ")}`);
}

function taken(session: string, how: string): CorralError {
  return new CorralError("request.invalid", `The shell of session ${session} is open and ${how}.`, {
    hint: "Close it first, or name another session.",
  });
}
