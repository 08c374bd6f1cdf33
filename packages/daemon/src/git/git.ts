import { execFile } from "node:child_process";

export interface GitAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git in a folder so that nothing of the user's or the system's settings takes part, nor hooks or helpers that
 * the repository names. Whose the repository is does not matter: the user named it. Throws when there is no git and when
 * the signal aborts.
 */
export function git(
  folder: string,
  args: readonly string[],
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<GitAnswer> {
  const settings = { "core.hooksPath": "/dev/null", "safe.directory": "*", "core.fsmonitor": "false", "gc.auto": "0" };
  return run(["-C", folder, ...args], { ...inert, ...asVariables(settings) }, signal);
}

/** What the user's own settings say for a repo, the last value of each name. */
export async function userSettings(repo: string, names: RegExp): Promise<Map<string, string>> {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  const places = {
    ...(HOME === undefined ? {} : { HOME }),
    ...(XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME }),
  };
  const variables = { ...basic, ...places, ...asVariables({ "safe.directory": "*" }) };
  const outcome = await run(["-C", repo, "config", "--null", "--get-regexp", names.source], variables, undefined);
  if (!outcome.ok) return new Map();
  const entries = outcome.stdout.split("\0").filter((entry) => entry.includes("\n"));
  return new Map(entries.map((entry) => splitOnce(entry, "\n")));
}

const basic = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8", GIT_TERMINAL_PROMPT: "0" };

const inert = {
  ...basic,
  HOME: "/nonexistent",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
};

function run(
  args: readonly string[],
  env: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<GitAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  execFile("git", args, { env, maxBuffer: 64 * 1024 * 1024, ...(signal && { signal }) }, (error, stdout, stderr) => {
    if (error === null || typeof error.code === "number") resolve({ ok: error === null, stdout, stderr });
    else reject(error);
  });
  return promise;
}

function asVariables(settings: Record<string, string>): Record<string, string> {
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
