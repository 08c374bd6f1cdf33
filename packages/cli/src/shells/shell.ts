import type { Client } from "@corral/client";
import {
  type CommandResult,
  CorralError,
  type EnvironmentAsked,
  type IgnoredFiles,
  longestCommandMs,
  type ShellId,
  shellId,
  type ShellView,
  shellWorkspace,
  type ShellWorkspace,
} from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { type EnvironmentFlags, environmentIn, unsafe } from "../environments/environment-flags.ts";
import { oneOf, UsageError } from "../flags.ts";
import { ended, type Ended, interrupted, noticeOf, ShellLine, wallsOf } from "./shell-line.ts";
import { jsonLine, shown, shownInLine } from "../terminal/output.ts";
import { comeBack, type Left, newTerminal, seatInShell, sitAtTerminal } from "./sitting.ts";
import { projectHere } from "../projects/project-here.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.shell> = async (args, world) => {
  mustAgree(args);
  if (args.list === true) return list(world, args.json === true);
  const wish = wishIn(args);
  try {
    return await perform(wish, world);
  } catch (error) {
    // Whoever reads a line gets one, whatever happened; the complaint is told as all others are.
    if (wish.json) world.out.write(lineWithout(told(error)));
    throw error;
  }
};

async function perform(wish: Wish, world: World): Promise<number> {
  const client = await connectDaemon(world);
  if (wish.end !== undefined) return end(client, wish.end, world);
  const leaving = new Leaving(world);
  try {
    const code = await use(client, wish, world, leaving);
    return leaving.code ?? code;
  } finally {
    leaving.forget();
  }
}

async function use(client: Client, wish: Wish, world: World, leaving: Leaving): Promise<number> {
  const opened = wish.in === undefined ? await open(client, wish, world) : await client.shells.get(wish.in);
  if (opened.environment.kind === "local") world.err.write(unsafe);
  if (wish.command === undefined && world.screen !== undefined && leaving.code === undefined)
    return sit(client, opened, wish, world, leaving);
  const line = new ShellLine(client, opened, world, wish.timeoutMs);
  leaving.by(line);
  try {
    return wish.command === undefined
      ? await line.interact()
      : conclude(await line.run(wish.command, { live: !wish.json }), wish, world);
  } finally {
    leaving.forgetSignals();
    if (wish.keep) world.err.write(`${opened.id} is left open; continue with \`corral shell --in ${opened.id}\`\n`);
    else if (wish.in === undefined) await leave(client, opened, world);
  }
}

/**
 * This program told to end, by a signal or by output that nobody takes any more. What it made is ended first; before
 * there is anything to end, it is noted.
 */
class Leaving {
  /** The exit code that tells of it. */
  code: number | undefined;
  #isUnread = false;
  readonly #signals: readonly ((() => void) | undefined)[];
  readonly #output: (() => void) | undefined;
  #line: Pick<ShellLine, "end" | "isRunning"> | undefined;

  constructor(world: World) {
    this.#signals = [
      // While something runs, Ctrl-C is for that.
      world.onInterrupt(() => this.#line?.isRunning !== true && this.#tell(interrupted)),
      world.onEnd?.((signal) => this.#tell(signal === "SIGHUP" ? 129 : 143)),
    ];
    this.#output = world.onOutputLost?.(({ code }) => {
      this.#isUnread = true;
      this.#tell(code === "EPIPE" ? 141 : 1);
    });
  }

  /** There is something to end, from now on. */
  by(line: ShellLine): void {
    this.#line = line;
    if (this.code !== undefined) line.end({ isUnread: this.#isUnread });
  }

  /** From now on a signal ends this program at once. */
  forgetSignals(): void {
    for (const forget of this.#signals) forget?.();
  }

  forget(): void {
    this.forgetSignals();
    this.#output?.();
  }

  #tell(code: number): void {
    this.code ??= code;
    this.#line?.end({ isUnread: this.#isUnread });
  }
}

/** A terminal of its own. Left, it runs on, with its shell. */
async function sit(client: Client, opened: ShellView, wish: Wish, world: World, leaving: Leaving): Promise<number> {
  // A terminal listens for itself.
  leaving.forget();
  let left: Left = { kind: "lost", code: 1 };
  try {
    left = await sitAtTerminal(client, seatInShell(opened), await newTerminal(client, opened, world), world);
  } finally {
    if (left.kind === "ended" && wish.keep)
      world.err.write(`${opened.id} is left open; continue with \`corral shell --in ${opened.id}\`\n`);
    else if (left.kind === "ended" && wish.in === undefined) await leave(client, opened, world);
    else if (left.kind !== "ended") world.err.write(comeBack(opened));
  }
  return left.code;
}

async function list(world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const left = (await client.shells.list()).filter(({ state }) => state !== "closed");
  for (const view of left) {
    const walls = wallsOf(view);
    world.out.write(
      json ? jsonLine(view) : shown(`${view.id}  ${view.state.padEnd(7)}  ${walls}  ${view.path}`) + "\n",
    );
  }
  if (left.length === 0 && !json) world.err.write("There are no open shells; `corral shell --keep` leaves one open.\n");
  return 0;
}

interface Wish {
  readonly command: string | undefined;
  readonly json: boolean;
  readonly keep: boolean;
  readonly in: ShellId | undefined;
  readonly end: ShellId | undefined;
  readonly timeoutMs: number | undefined;
  readonly environment: EnvironmentAsked;
  readonly workspace: ShellWorkspace | undefined;
}

type Given = EnvironmentFlags & { readonly [K in keyof Wish | "timeout" | "list"]?: string | boolean | undefined };

/** Nobody gets fewer walls than asked for, nor something else done, because a flag was passed over. */
function mustAgree(args: Given): void {
  const given = <K extends keyof Given>(names: readonly K[]) => names.find((name) => args[name] !== undefined);
  const asWhat = given(["end", "list", "in"]);
  if (asWhat === undefined) return;
  const stray = given([...made, ...(asWhat === "in" ? [] : used), ...(asWhat === "end" ? (["list"] as const) : [])]);
  if (stray === undefined) return;
  const why = made.includes(stray) && asWhat === "in" ? "; a shell stays as it was opened" : "";
  throw new UsageError(`--${stray} does not go with --${asWhat}${why}`);
}

/** What is for a shell that is gone on with. */
const used = ["in", "command", "keep", "timeout"] as const;

/** What is decided when a shell is opened. */
const made: readonly (keyof Given)[] = ["env", "image", "network", "access", "workspace"];

function wishIn(args: Given): Wish {
  const command = args.command as string | undefined;
  if (command?.trim() === "") throw new UsageError("-c needs a command");
  if (args.json === true && command === undefined) throw new UsageError("--json needs -c COMMAND");
  return {
    command,
    json: args.json === true,
    keep: args.keep === true,
    in: oneOf("in", args.in, shellId, "an id like shl_01k…"),
    end: oneOf("end", args.end, shellId, "an id like shl_01k…"),
    timeoutMs: milliseconds(args.timeout as string | undefined),
    environment: environmentIn(args),
    workspace: oneOf("workspace", args.workspace, shellWorkspace, "copy, in-place or scratch"),
  };
}

function milliseconds(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const ms = /^\d{1,9}(\.\d+)?$/.test(seconds) ? Math.ceil(Number(seconds) * 1000) : 0;
  if (ms < 1 || ms > longestCommandMs)
    throw new UsageError(`--timeout needs seconds, at most a day, not ${JSON.stringify(seconds)}`);
  return ms;
}

async function open(client: Client, wish: Wish, world: World): Promise<ShellView> {
  const { environment, workspace } = wish;
  const project = await projectFor(client, workspace, world);
  return client.shells.open(
    {
      environment,
      ...(workspace === undefined ? {} : { workspace }),
      ...(project === undefined ? {} : { projectId: project.id, worktree: project.worktree }),
    },
    { key: crypto.randomUUID() },
  );
}

/** Outside of a repository there is nothing to copy, and whoever asked for nothing in particular gets an empty folder. */
async function projectFor(client: Client, workspace: ShellWorkspace | undefined, world: World) {
  if (workspace === "scratch") return undefined;
  const { cwd, err } = world;
  try {
    return await projectHere(client, world);
  } catch (error) {
    if (workspace !== undefined || !(error instanceof CorralError) || error.code !== "project.not-a-repo") throw error;
    err.write(
      shown(`${cwd} is no git repository, so the shell is in an empty folder of its own (\`git init\` makes it one)\n`),
    );
    return undefined;
  }
}

function conclude(outcome: Ended, { json, keep, in: within }: Wish, { out, err }: World): number {
  const { result } = outcome;
  const goesOn = keep || within !== undefined;
  const title = noticeOf(outcome, { goesOn }) ?? "it did not run";
  if (json) out.write(result === undefined ? lineWithout({ title }) : lineOf(result));
  err.write(shown(ended(outcome, { goesOn })));
  return outcome.interrupted ? interrupted : (result?.exitCode ?? 1);
}

function lineOf({ exitCode, stdout, stderr, timedOut, limit }: CommandResult): string {
  return jsonLine({ exitCode, stdout, stderr, timedOut, limit: limit ?? (timedOut ? "time" : null) });
}

function told(error: unknown): Missing {
  if (error instanceof CorralError) return { code: error.code, title: error.message };
  return { title: error instanceof Error ? error.message : String(error) };
}

interface Missing {
  readonly code?: string;
  readonly title: string;
}

/** In the place of a result that there is not. */
function lineWithout(error: Missing): string {
  return jsonLine({ exitCode: null, stdout: "", stderr: "", timedOut: false, limit: null, error });
}

async function leave(client: Client, { id, workspace }: ShellView, { err }: World): Promise<void> {
  try {
    const { kept, ignored } = await client.shells.close(id);
    if (kept !== undefined) err.write(shown(`${workspace === "copy" ? "changes" : "files"} are kept in ${kept}\n`));
    if (ignored !== undefined) err.write(`${gone(ignored)}; --keep keeps a shell and its files\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    err.write(shown(`${id} could not be ended: ${why}\n`));
  }
}

async function end(client: Client, id: ShellId, world: World): Promise<number> {
  const { kept, ignored } = await client.shells.close(id);
  world.out.write(shown(`${id} is ended${kept === undefined ? "" : `; its files are kept in ${kept}`}\n`));
  if (ignored !== undefined) world.err.write(`${gone(ignored)}\n`);
  return 0;
}

/** A few of them by name, in one line. */
function gone({ paths, count }: IgnoredFiles): string {
  const named = paths.slice(0, 3).map((path) => (path.length > 60 ? `${path.slice(0, 60)}…` : path));
  const more = count - named.length;
  return `ignored files went with the copy: ${shownInLine(named.join(", "))}${more > 0 ? ` (and ${more} more)` : ""}`;
}
