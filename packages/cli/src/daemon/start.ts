import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { CorralError, problem } from "@corral/protocol";
import { tokenVariable } from "../tokens/token-variable.ts";

/** Set to true by the bundler; absent in source. */
declare const CORRAL_BUNDLED: boolean | undefined;

/** The program that is the daemon. */
export function daemonEntry(): string {
  return programOf("daemon");
}

/** `database`: what is done to files of the log without a daemon. */
export function programOf(name: "daemon" | "database"): string {
  const bundled = typeof CORRAL_BUNDLED !== "undefined" && CORRAL_BUNDLED;
  const source = { daemon: "main.ts", database: "database-main.ts" }[name];
  return fileURLToPath(new URL(bundled ? `./${name}.js` : `../../../daemon/src/${source}`, import.meta.url));
}

/**
 * What the daemon passes on is soon garbage: a young heap of V8's own size only makes it larger, by some twenty megabytes.
 * For what its runtime is given before its program.
 */
export const daemonFlags: readonly string[] = ["--max-semi-space-size=4"];

/** Compiled code is kept between starts: a daemon and its runners begin in half the time. */
export function daemonEnvironment(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  // A daemon is of no environment, wherever it was started: it must not end with one. And it needs nobody's token.
  const { CORRAL_ENVIRONMENT: _environment, [tokenVariable]: _token, ...own } = env;
  return { NODE_COMPILE_CACHE: join(home, "cache"), ...own };
}

/** What a daemon exits with when another one has the home. */
const homeTaken = 75;
/** One that breaks is known by its end: this is for one that hangs, not for a machine that has much else to do. */
const patienceMs = 120_000;

export interface StartOptions {
  readonly entry?: string;
  /** The variables it gets; without: those of this process. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Gets what the daemon has to say although it serves. */
  readonly tell?: (words: string) => void;
}

/**
 * Starts a daemon that outlives this process and resolves when it is ready. `taken`: another one has
 * the home; it may be just beginning, or about to end. Throws with the last words of one that failed.
 */
export async function startDaemon(
  home: string,
  { entry = daemonEntry(), variables = process.env, tell }: StartOptions = {},
): Promise<"ready" | "taken"> {
  const words = openWords(home);
  const child = spawn(process.execPath, [...daemonFlags, entry, "--home", home, "--json"], {
    detached: true,
    cwd: home,
    env: daemonEnvironment(home, variables),
    stdio: ["ignore", "pipe", words.descriptor],
  });
  try {
    const beginning = await firstWord(child, child.stdout as Readable);
    if (beginning.kind === "ready") {
      const said = saidIn(words);
      if (said !== "") tell?.(`${said}\n`);
      return "ready";
    }
    if (beginning.kind === "ended" && beginning.code === homeTaken) return "taken";
    throw failed(beginning.kind === "ended" ? `it ended with ${beginning.code}` : beginning.reason, words);
  } finally {
    closeSync(words.descriptor);
    child.stdout?.destroy();
    child.unref();
  }
}

type Beginning =
  | { readonly kind: "ready" }
  | { readonly kind: "ended"; readonly code: number | string }
  | { readonly kind: "failed"; readonly reason: string };

/** Ready means one whole line on stdout. */
function firstWord(child: ChildProcess, stdout: Readable): Promise<Beginning> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve({ kind: "failed", reason: `it was not ready within ${patienceMs / 1000} s` }),
      patienceMs,
    );
    const settle = (beginning: Beginning) => {
      clearTimeout(timer);
      resolve(beginning);
    };
    let line = "";
    stdout.setEncoding("utf8").on("data", (text: string) => {
      line += text;
      if (isReadyLine(line)) settle({ kind: "ready" });
    });
    child.on("error", (error) => settle({ kind: "failed", reason: error.message }));
    child.on("exit", (code, signal) => settle({ kind: "ended", code: code ?? signal ?? "nothing" }));
  });
}

/** A daemon that refuses says so in a line as well, without a url. */
function isReadyLine(text: string): boolean {
  const end = text.indexOf("\n");
  if (end < 0) return false;
  try {
    return typeof (JSON.parse(text.slice(0, end)) as { url?: unknown }).url === "string";
  } catch {
    return false;
  }
}

interface Words {
  readonly path: string;
  readonly descriptor: number;
  /** Where this daemon's words begin. */
  readonly from: number;
}

/** Only what a daemon says before it has its log, or when it breaks, so there is never much. */
const mostWords = 1024 * 1024;

function openWords(home: string): Words {
  const path = join(home, "logs", "daemon.out");
  return inHome(home, () => {
    makeFolder(join(home, "logs"));
    const descriptor = openSync(path, "a", 0o600);
    if (fstatSync(descriptor).size > mostWords) ftruncateSync(descriptor);
    return { path, descriptor, from: fstatSync(descriptor).size };
  });
}

/** Makes the home where there is none. Throws `home.unusable` when there cannot be one. */
export function makeHome(home: string): void {
  inHome(home, () => makeFolder(home));
}

function inHome<T>(home: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new CorralError("home.unusable", `${home} cannot hold Corral's state: ${(cause as Error).message}`, {
      cause,
      hint: "Check that you can write to the folder and that its disk has room, or set CORRAL_HOME to another folder",
    });
  }
}

/** One by one: Node's own way to make parents too never ends where a file system says of every new folder that it is not there. */
function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    makeOne(path);
  }
}

/** Whoever else makes it at the same moment is welcome. */
function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function failed(why: string, words: Words): CorralError {
  const said = saidIn(words).split("\n").slice(-10);
  const told = problemIn(said.at(-1) ?? "");
  if (told !== undefined) return told;
  const quoted = said.join("\n");
  return new CorralError(
    "daemon.unreachable",
    `The daemon did not start: ${why}${quoted === "" ? "" : `\n${quoted}`}`,
    {
      hint: `Its output is in ${words.path}; \`corral serve\` shows it directly`,
    },
  );
}

/** The file is everybody's: those that found the home taken at the same moment speak there too, and concern nobody. */
function saidIn({ path, from }: Words): string {
  const lines = readFileSync(path).subarray(from).toString("utf8").trim().split("\n");
  return lines.filter((line) => problemIn(line)?.code !== "daemon.running").join("\n");
}

/** A daemon that knows what is wrong says so in its last line. */
function problemIn(line: string): CorralError | undefined {
  try {
    return CorralError.fromProblem(problem.parse(JSON.parse(line)));
  } catch {
    return undefined;
  }
}
