import { execFile } from "node:child_process";

/** The first line of what a program says of its version, or undefined when there is no such program that works. */
export function versionOf(program: string, { flag = "--version", path }: Asking = {}): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const env = path === undefined ? process.env : { ...process.env, PATH: path };
  execFile(program, [flag], { timeout: 5_000, encoding: "utf8", env }, (error, stdout) =>
    resolve(error === null ? stdout.split("\n", 1)[0]?.trim() : undefined),
  );
  return promise;
}

export interface Asking {
  readonly flag?: "--version" | "-V";
  /** Where it is looked for; without: where this process looks. */
  readonly path?: string;
}

/** How to install a package of this name on the systems that have package managers of their own. */
export function installing(name: string): string {
  if (process.platform === "darwin") return `brew install ${name}`;
  return `sudo apt install ${name} (Debian, Ubuntu), sudo dnf install ${name} (Fedora), sudo pacman -S ${name} (Arch)`;
}
