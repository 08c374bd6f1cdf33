import { execFile, spawn } from "node:child_process";
import { setPriority } from "node:os";
import { mustHavePipes } from "../descriptors/index.ts";
import { outsideOfRepositories } from "../executables/index.ts";

export interface GitAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** There was more than wanted. */
  readonly isCut?: boolean;
}

export interface GitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Added to the few that git gets. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Settings that win over those of the repository. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Whom it runs as, and whose what it writes will be; without: whoever this process is. Only root can choose. */
  readonly as?: { readonly uid: number; readonly gid: number } | undefined;
  /** How what it says becomes text; `latin1` keeps every byte of a name. */
  readonly encoding?: "latin1";
  /** Of more output than this, in bytes, the rest is not waited for. */
  readonly atMost?: number;
  /** `background`: whatever else wants the processor goes first. */
  readonly urgency?: "background";
}

/**
 * Runs git in a folder so that nothing of the user's or the system's settings takes part, nor hooks or helpers that
 * the repository names. Whose the repository is does not matter: the user named it. Throws when there is no git and when
 * the signal aborts.
 */
export function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  const variables = { ...inert, ...asVariables({ ...quiet, ...options.settings }), ...options.variables };
  return run(["-C", folder, ...args], variables, options);
}

/** The same, fed from what another program writes. `writes` settles when that program has ended well. */
export async function gitReading(
  folder: string,
  args: readonly string[],
  { source, ...options }: Omit<GitOptions, "input"> & { readonly source: GitSource },
): Promise<GitAnswer> {
  const env = { ...inert, ...asVariables({ ...quiet, ...options.settings }), ...options.variables };
  const child = mustHavePipes(
    spawn("git", ["-C", folder, ...args], {
      env,
      ...options.as,
      ...(options.signal && { signal: options.signal }),
    }),
  );
  const said: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (said[name] += text));
  // It may refuse before it has read everything; its exit tells why.
  child.stdin.on("error", () => undefined);
  source.stdout.on("error", () => child.stdin.destroy());
  source.stdout.pipe(child.stdin);
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  child.on("error", reject);
  child.on("close", (code) => resolve({ ok: code === 0, ...said }));
  return promise;
}

export interface GitSource {
  readonly stdout: NodeJS.ReadableStream;
}

/** What the user's own settings say for a repo, the last value of each name. */
export async function userSettings(repo: string, names: RegExp): Promise<Map<string, string>> {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  const places = {
    ...(HOME === undefined ? {} : { HOME }),
    ...(XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME }),
  };
  const variables = { ...basic, ...places, ...asVariables({ "safe.directory": "*" }) };
  const outcome = await run(["-C", repo, "config", "--null", "--get-regexp", names.source], variables);
  if (!outcome.ok) return new Map();
  const entries = outcome.stdout.split("\0").filter((entry) => entry.includes("\n"));
  return new Map(entries.map((entry) => splitOnce(entry, "\n")));
}

const path = outsideOfRepositories(process.env["PATH"] ?? "");
const basic = { PATH: path, LC_ALL: "C.UTF-8", GIT_TERMINAL_PROMPT: "0" };

/** A variable by which a git is known as one that the process with this number started. */
export function startedBy(pid: number): string {
  return `CORRAL_GIT=${pid}`;
}

/** Variables with which git asks neither the user's nor the system's settings. */
export const inert = {
  ...basic,
  HOME: "/nonexistent",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  CORRAL_GIT: String(process.pid),
};

/** Others are at work in a user's repo, too, and hold its locks for moments. In milliseconds. */
const patient = { "core.filesRefLockTimeout": "3000", "core.packedRefsTimeout": "5000" };

const quiet = {
  "core.hooksPath": "/dev/null",
  "safe.directory": "*",
  "core.fsmonitor": "false",
  "gc.auto": "0",
  ...patient,
  "submodule.recurse": "false",
};

function run(
  args: readonly string[],
  env: Record<string, string>,
  { signal, input, as, urgency, atMost, encoding = "utf8" as "latin1" }: GitOptions = {},
): Promise<GitAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  const options = { env, encoding, maxBuffer: atMost ?? 256 * 1024 * 1024, ...as, ...(signal && { signal }) };
  const child = execFile("git", args, options, (error, stdout, stderr) => {
    if (atMost !== undefined && error?.code === tooMuch) resolve({ ok: true, stdout, stderr, isCut: true });
    else if (error === null || typeof error.code === "number") resolve({ ok: error === null, stdout, stderr });
    else reject(error);
  });
  if (urgency === "background" && child.pid !== undefined) yieldTo(child.pid);
  if (input !== undefined) {
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  }
  return promise;
}

/** What Node says when a program wrote more than it may. */
const tooMuch: unknown = "ERR_CHILD_PROCESS_STDIO_MAXBUFFER";

/** It may have ended already. */
function yieldTo(pid: number): void {
  try {
    setPriority(pid, 19);
  } catch {
    return;
  }
}

/** Settings as git takes them from its environment, where they win over every file. */
export function asVariables(settings: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(settings).flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(pairs.length / 2), ...(Object.fromEntries(pairs) as Record<string, string>) };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
