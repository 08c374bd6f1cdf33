import { execFile } from "node:child_process";

export interface GitAnswer {
  /** Undefined: git was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git in a folder so that nothing of the user's or the system's settings takes part, nor hooks or helpers that
 * the repository names. Whose the repository is does not matter: the user named it. Throws when there is no git.
 */
export function git(folder: string, ...args: readonly string[]): Promise<GitAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  execFile("git", ["-C", folder, ...args], { env: inert(), timeout: 30_000 }, (error, stdout, stderr) => {
    if (error === null) resolve({ exitCode: 0, stdout, stderr });
    else if (typeof error.code === "string") reject(error);
    else resolve({ exitCode: error.code ?? undefined, stdout, stderr });
  });
  return promise;
}

function inert(): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    HOME: "/nonexistent",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    GIT_CONFIG_KEY_1: "core.hooksPath",
    GIT_CONFIG_VALUE_1: "/dev/null",
    GIT_CONFIG_KEY_2: "core.fsmonitor",
    GIT_CONFIG_VALUE_2: "false",
  };
}
