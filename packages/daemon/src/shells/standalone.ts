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
  planOf,
  aloneWishOf,
} from "../environments/index.ts";
import { ShellRecords } from "./records.ts";
import { makeScratch, removeScratch, scratchFolder } from "./scratch.ts";

/**
 * A shell that a program opens for itself, without a daemon.
 *
 * 1. What an environment says is heard by one reader. So a process holds an environment once, however many shells it has
 *    handed out on it, and lets it go with the last of them.
 * 2. The first to put an environment on record wins; whoever comes second finds it there.
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
  for (;;) {
    const last = records.newest();
    const found = last === undefined ? undefined : await hold(drivers, last.state);
    if (found !== undefined) {
      try {
        mustBeSame(session, asked, found.environment.state, wish);
        mustHaveLimits(session, wish, last?.limits);
      } catch (error) {
        found.release();
        throw error;
      }
      return shellAt(found, { session, records, isNew: false });
    }
    const opened = await open(drivers, folder, session, wish);
    if (records.add(opened.state, last, limitsIn(wish)))
      return shellAt(holdNew(opened), { session, records, isNew: true });
    await opened.end();
  }
}

/** An environment as one of those has it who share it in this process. */
interface Hold {
  readonly environment: Environment;
  /** Can be repeated. */
  readonly release: () => void;
}

/** What this process holds; several shells may share one. */
const held = new Map<string, { readonly environment: Environment; shares: number }>();
const reopening = new Map<string, Promise<Environment | undefined>>();

/** Undefined: its processes are gone. */
async function hold(drivers: EnvironmentDrivers, state: EnvironmentState): Promise<Hold | undefined> {
  const known = held.get(state.id);
  if (known?.environment.isOpen === true) return share(known);
  const joined = reopening.get(state.id) ?? reopen(drivers, state);
  reopening.set(state.id, joined);
  try {
    const environment = await joined;
    return environment === undefined ? undefined : holdNew(environment);
  } finally {
    // Not before it is held: whoever came between would open it once more.
    if (reopening.get(state.id) === joined) reopening.delete(state.id);
  }
}

async function reopen(drivers: EnvironmentDrivers, state: EnvironmentState): Promise<Environment | undefined> {
  const found = await drivers.reopen(state);
  return found.kind === "open" ? found.environment : undefined;
}

function holdNew(environment: Environment): Hold {
  const { id } = environment.state;
  const known = held.get(id);
  const entry = known?.environment === environment ? known : { environment, shares: 0 };
  held.set(id, entry);
  return share(entry);
}

function share(entry: { readonly environment: Environment; shares: number }): Hold {
  const { environment } = entry;
  entry.shares += 1;
  let isMine = true;
  return {
    environment,
    release() {
      if (!isMine) return;
      isMine = false;
      entry.shares -= 1;
      if (entry.shares > 0) return;
      if (held.get(environment.state.id) === entry) held.delete(environment.state.id);
      environment.detach();
    },
  };
}

async function open(
  drivers: EnvironmentDrivers,
  folder: string,
  session: string,
  options: ShellOptions,
): Promise<Environment> {
  const wish = aloneWishOf(askedFor(options));
  const driver = drivers.of(wish.kind);
  await drivers.sweep({ onRecord: ShellRecords.all(folder), onFailure: () => undefined });
  return driver.open(
    planOf({
      id: newId("environment"),
      workspace: options.workspace ?? (await makeScratch(folder, session, driver.newOwner)).path,
      network: wish.network,
      image: wish.image,
      volumes: wish.volumes ?? {},
      access: wish.access ?? "write",
      limits: limitsIn(options),
      variables: options.variables ?? {},
    }),
  );
}

function shellAt(
  { environment, release }: Hold,
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
