import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { type Dirent, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient, type FollowOptions } from "@corral/client";
import { makeRepository, type ScriptedModel, startScriptedModel } from "@corral/daemon/testing";
import { expect } from "vitest";
import { CorralError, type DaemonInfo, daemonInfo, type SessionId, type WireEvent } from "@corral/protocol";

export const dist = join(import.meta.dirname, "..", "dist");

/** What a story happens in: a home, a repository, a scripted model, and the programs as they are shipped. */
export interface Stage extends AsyncDisposable {
  readonly home: string;
  readonly repository: string;
  readonly model: ScriptedModel;
  /** What programs on this stage are started with. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Starts `corral serve --json`; `fault`: the point at which it is to die, or a runner of its; `more`: variables. */
  serve(wish?: { readonly fault?: string; readonly more?: Readonly<Record<string, string>> }): Promise<ServedDaemon>;
  /** Starts the command line in the repository. */
  corral(...args: readonly string[]): CommandLine;
  corralIn(folder: string, ...args: readonly string[]): CommandLine;
  /** The same with a token in CORRAL_TOKEN. */
  corralAs(token: string, ...args: readonly string[]): CommandLine;
  /** The SDK on the running daemon. */
  client(): Client;
}

export interface ServedDaemon {
  readonly info: DaemonInfo;
  /** The line that was printed, as it was printed. */
  readonly line: string;
  /** Resolves when it has ended, of itself too. */
  readonly gone: Promise<void>;
  /** Runner processes under it. */
  runners(): readonly number[];
  /** kill -9, unless it has ended by then, and waits until the process is gone. */
  kill(): Promise<void>;
  /** Sends the signal and waits for the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface CommandLine {
  readonly process: ChildProcess;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when standard output holds the text. */
  shows(text: string): Promise<void>;
  readonly exit: Promise<number | null>;
}

export interface StageWish {
  /** The name of the home's folder. */
  readonly home?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Where the programs are. */
  readonly programs?: string;
  /** How many runners daemons have, by the user's settings; one is enough for most, and a daemon with one starts sooner. */
  readonly runners?: number;
}

export async function setStage({
  home: name = "home",
  variables = {},
  programs = dist,
  runners = 1,
}: StageWish = {}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "corral-story-"));
  const home = join(folder, name);
  const model = await startScriptedModel();
  const repository = makeRepository(join(folder, "repository"));
  const settings = join(folder, "user", ".config", "corral");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "config.json"), JSON.stringify({ runners }));
  const children = new Set<ChildProcess>();
  const env = {
    PATH: process.env["PATH"],
    HOME: join(folder, "user"),
    CORRAL_HOME: home,
    ANTHROPIC_API_KEY: "sk-story-secret",
    ANTHROPIC_BASE_URL: model.url,
    NO_COLOR: "1",
    // Daemons and runners are started by the hundred.
    NODE_COMPILE_CACHE: join(tmpdir(), "corral-story-code"),
    ...variables,
  };
  const start = (args: readonly string[], { cwd = repository, more = {} }: Starting = {}) => {
    const options = { cwd, env: { ...env, ...more }, stdio: "pipe" } as const;
    const child = spawn(process.execPath, [join(programs, "cli.js"), ...args], options);
    children.add(child);
    return child;
  };
  return {
    home,
    repository,
    model,
    variables: env,
    serve: ({ fault, more = {} } = {}) =>
      serve(start(["serve", "--json"], { more: { ...more, ...(fault === undefined ? {} : { CORRAL_FAULT: fault }) } })),
    corral: (...args) => commandLine(start(args)),
    corralIn: (cwd, ...args) => commandLine(start(args, { cwd })),
    corralAs: (token, ...args) => commandLine(start(args, { more: { CORRAL_TOKEN: token } })),
    client: () => clientFor(home),
    async [Symbol.asyncDispose]() {
      const closed = model.close();
      await stop(home);
      await Promise.all(Array.from(children, kill));
      await closed;
      // What outlives a killed daemon may still be writing there.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

interface Starting {
  readonly cwd?: string;
  readonly more?: Readonly<Record<string, string>>;
}

async function serve(child: ChildProcess): Promise<ServedDaemon> {
  if (child.stdout === null) throw new Error("no standard output");
  const exited = once(child, "exit");
  let complaints = "";
  child.stderr?.on("data", (piece) => (complaints += String(piece)));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done === true) throw new Error(`the daemon did not start: ${complaints}`);
  const info = daemonInfo.parse(JSON.parse(first.value));
  return {
    info,
    line: first.value,
    gone: exited.then(() => undefined),
    runners: () => childrenOf(info.pid).filter((pid) => wordsOf(pid).includes("runner.js")),
    async kill() {
      if (isRunning(info.pid)) process.kill(info.pid, "SIGKILL");
      await exited;
    },
    async end(signal) {
      process.kill(info.pid, signal);
      const [code] = await exited;
      return code as number | null;
    },
  };
}

/** What `corral stop --now` does, without a program for it. */
async function stop(home: string): Promise<void> {
  const pid = toldIn(home)?.pid;
  if (pid === undefined) return;
  // A daemon that died has left its word behind, and its number may be somebody else's by now.
  if (!wordsOf(pid).includes(home)) return;
  const patience = AbortSignal.timeout(10_000);
  await clientFor(home)
    .daemon.stop({ now: true }, { signal: patience })
    // One that does not answer, or has not heard, is killed; one that answers otherwise, or breaks off, is about to end.
    .catch((error: unknown) => {
      const isUnheard = error instanceof CorralError && error.code === "request.timeout";
      if ((patience.aborted || isUnheard) && isRunning(pid)) process.kill(pid, "SIGKILL");
    });
  while (isRunning(pid)) await delay(5);
}

function commandLine(child: ChildProcess): CommandLine {
  let stdout = "";
  let stderr = "";
  const waiting = new Set<() => void>();
  // A letter may come in two pieces. Whoever wants the bytes themselves listens as well.
  const [outLetters, errLetters] = [new StringDecoder(), new StringDecoder()];
  child.stdout?.on("data", (piece: Buffer) => {
    stdout += outLetters.write(piece);
    for (const look of waiting) look();
  });
  child.stderr?.on("data", (piece: Buffer) => (stderr += errLetters.write(piece)));
  const closed = once(child, "close").then(([code]) => code as number | null);
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exit: closed,
    shows: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!stdout.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void closed.then(() => reject(new Error(`it ended without showing ${text}:\n${stdout}\n${stderr}`)));
        look();
      }),
  };
}

function infoIn(home: string): DaemonInfo {
  return daemonInfo.parse(JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")));
}

/** Nothing where there is no daemon: one that is about to start has not written down yet where it is, and one that stops takes that away. */
function toldIn(home: string): DaemonInfo | undefined {
  try {
    return infoIn(home);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function clientFor(home: string): Client {
  const { url } = infoIn(home);
  return createClient({ url, token: readFileSync(join(home, "token"), "utf8").trim() });
}

/** Follows a session (or everything) from the start until the event comes; returns all events up to it. */
export async function eventsUntil(
  client: Client,
  type: string,
  of: { readonly session?: SessionId; readonly nth?: number } = {},
): Promise<readonly WireEvent[]> {
  const enough = new AbortController();
  const events: WireEvent[] = [];
  let seen = 0;
  const follow = client.follow({ after: 0, signal: enough.signal, ...(of.session && { session: of.session }) });
  for await (const each of follow) {
    if (each.kind !== "event") continue;
    events.push(each.event);
    if (each.event.type === type && ++seen === (of.nth ?? 1)) break;
  }
  enough.abort();
  return events;
}

/** Hears everything, wherever the daemon is. */
export function listen(stage: Stage, options: Pick<FollowOptions, "over" | "signal">) {
  const client = stage.client();
  const events: WireEvent[] = [];
  /** Of each text and reasoning, what was heard of it before its end, if anything. */
  const pieces = new Map<string, string>();
  const onBreak = () => {
    const info = toldIn(stage.home);
    if (info !== undefined) client.moveTo({ ...client.endpoint, url: info.url });
  };
  const read = async () => {
    for await (const news of client.follow({ ...options, after: 0, onBreak }))
      if (news.kind === "event") events.push(news.event);
      else if (news.kind === "delta" && (news.delta.kind === "text" || news.delta.kind === "reasoning"))
        pieces.set(news.delta.part, (pieces.get(news.delta.part) ?? "").slice(0, news.delta.offset) + news.delta.text);
  };
  return { events, pieces, types: () => events.map(({ type }) => type), end: read() };
}

/**
 * All that was recorded, once it has reached these subscribers, too. What is done after an activity is recorded in its own time: from here
 * on they may hear more.
 */
export async function allHeard(
  stage: Stage,
  ...heard: readonly (readonly WireEvent[])[]
): Promise<readonly WireEvent[]> {
  let events: readonly WireEvent[] = [];
  const caughtUp = async () => {
    events = await everything(stage.client());
    return heard.every(({ length }) => length === events.length);
  };
  await expect.poll(caughtUp).toBe(true);
  return events;
}

/** All that the log has. */
export async function everything(client: Client): Promise<readonly WireEvent[]> {
  const found: WireEvent[] = [];
  for (let after = 0; ;) {
    const { events, next } = await client.events({ after });
    found.push(...events);
    if (next === after) return found;
    after = next;
  }
}

/** Files and folders below a folder; links are not followed. What a daemon takes away meanwhile is none of them. */
export function entriesIn(folder: string): readonly { readonly path: string; readonly isFile: boolean }[] {
  return namesIn(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return [{ path, isFile: false }, ...entriesIn(path)];
    return entry.isFile() ? [{ path, isFile: true }] : [];
  });
}

function namesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The processes whose parent this is. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** A process that has ended runs no more, even while whoever started it (for a daemon: the test) has not collected it yet. */
export function isRunning(pid: number): boolean {
  const [state] = statusOf(pid) ?? [];
  return state !== undefined && state !== "Z";
}

/** What a process was started with; nothing when it has ended. */
export function wordsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function parentOf(pid: number): number | undefined {
  const [, parent] = statusOf(pid) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

/** What the kernel tells of a process, from its state on. */
function statusOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** No jail is root's, so what is worked on in place may not be either. */
export function giveToUser({ repository }: Stage): void {
  if (process.getuid?.() !== 0) return;
  execFileSync("chown", ["-R", "1234:1234", repository]);
  execFileSync("chmod", ["0755", join(repository, "..")]);
}
