import { execFile } from "node:child_process";
import { outsideOfRepositories } from "../executables/index.ts";

/** The first line of what a program says of its version, or undefined when there is no such program that works. */
export function versionOf(
  program: string,
  { flag = "--version", path = usersPath() }: Asking = {},
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const env = { ...process.env, PATH: path };
  execFile(program, [flag], { timeout: longestMs, encoding: "utf8", env, cwd: "/" }, (error, stdout) =>
    resolve(error === null ? stdout.split("\n", 1)[0]?.trim() : undefined),
  );
  return promise;
}

/** For one that never says anything: who is only late, on a busy machine, is not to be told to be missing. */
const longestMs = 30_000;

export interface Asking {
  readonly flag?: "--version" | "-V";
  /** Where it is looked for; without: where the user has programs. */
  readonly path?: string;
}

/** Without what agents can write: it would be run here, outside of any walls. */
export function usersPath(): string {
  return outsideOfRepositories(process.env["PATH"] ?? "");
}

/** How to install a package of this name on the systems that have package managers of their own. */
export function installing(name: string): string {
  if (process.platform === "darwin") return `brew install ${name}`;
  return `sudo apt install ${name} (Debian, Ubuntu), sudo dnf install ${name} (Fedora), sudo pacman -S ${name} (Arch)`;
}
