import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";

/** A checkout on a machine of its own making: only the programs in its PATH exist, npm and apt-get are acted. */
export class Checkout implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "corral-checkout-"));
  readonly #bin = join(this.root, "bin");
  readonly #calls = join(this.root, "calls");
  readonly #groups = new Set<number>();

  constructor() {
    const repository = join(import.meta.dirname, "..");
    for (const file of ["corral", "scripts/setup.sh"]) cpSync(join(repository, file), join(this.root, file));
    this.write("package-lock.json", "{}");
    this.write("packages/cli/src/main.ts", "console.log(JSON.stringify(process.argv.slice(2)));");
    mkdirSync(this.#bin);
    writeFileSync(this.#calls, "");
    for (const program of systemPrograms) this.#borrow(program);
    for (const program of ["bwrap", "git", "rg", "tmux", "strace", "chromium"]) this.program(program, "exit 0");
    this.program("id", "echo 0");
    this.program("npm", installs);
  }

  /** Puts a program into PATH. Every run is noted with its arguments before the body runs. */
  program(name: string, body: string): void {
    // Never through a link: behind it is a program of the real machine.
    rmSync(join(this.#bin, name), { force: true });
    const note = `printf '%s\\n' "${name}\${1:+ $*}" >>"${this.#calls}"`;
    writeFileSync(join(this.#bin, name), `#!/bin/sh\n${noted.has(name) ? note : ""}\n${body}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }

  remove(program: string): void {
    rmSync(join(this.#bin, program));
  }

  write(path: string, content: string): void {
    mkdirSync(join(this.root, path, ".."), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  exists(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  /** The runs of npm, apt-get and sudo so far, in order. */
  get calls(): readonly string[] {
    return readFileSync(this.#calls, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  }

  /** A named pipe on which both sides wait for each other. */
  latch(name: string): Latch {
    const path = join(this.root, name);
    execFileSync("mkfifo", [path]);
    return { path, reached: () => readFile(path, "utf8"), open: () => writeFile(path, "go\n") };
  }

  setUp(environment: Readonly<Record<string, string>> = {}, ...words: readonly string[]): Run {
    return this.#start("/bin/sh", [join(this.root, "scripts/setup.sh"), ...words], environment);
  }

  corral(args: readonly string[], environment: Readonly<Record<string, string>> = {}, launcher = "corral"): Run {
    return this.#start(join(this.root, launcher), args, environment);
  }

  [Symbol.dispose](): void {
    for (const group of this.#groups) killGroup(group);
    rmSync(this.root, { recursive: true, force: true });
  }

  #start(program: string, args: readonly string[], environment: Readonly<Record<string, string>>): Run {
    const child = spawn(program, args, {
      env: { PATH: this.#bin, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const pid = child.pid ?? 0;
    this.#groups.add(pid);
    const said = text(child.stderr);
    const ended = new Promise<number | null>((resolve, reject) => child.on("exit", resolve).on("error", reject));
    const result = Promise.all([ended, text(child.stdout), said]).then(([code, stdout, stderr]) => {
      this.#groups.delete(pid); // both streams ended, so nobody of the group is left
      return { code, stdout, stderr };
    });
    return { pid, ended, result, kill: () => child.kill("SIGKILL"), saying: (words) => sayingOf(child.stderr, words) };
  }

  #borrow(program: string): void {
    const path = process.env["PATH"] ?? "";
    const found = path
      .split(delimiter)
      .map((folder) => join(folder, program))
      .find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(found, join(this.#bin, program));
  }
}

export interface Latch {
  readonly path: string;
  /** Resolves when the program writes to the latch and closes it. */
  reached(): Promise<string>;
  /** Lets the program that reads from the latch go on. */
  open(): Promise<void>;
}

export interface Run {
  readonly pid: number;
  kill(): void;
  /** Resolves once the words were printed on stderr. */
  saying(words: string): Promise<void>;
  /** The exit code, as soon as the program itself has ended; null when it was killed. */
  readonly ended: Promise<number | null>;
  /** All it printed, when every process that could still print has ended too. */
  readonly result: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** What npm ci does as far as set-up can see: node_modules is emptied, then filled, with a Node in it. */
export const installs = `
rm -rf node_modules && mkdir -p node_modules/.bin && ln -s "${process.execPath}" node_modules/.bin/node
echo "added 1 package"`;

const noted = new Set(["npm", "apt-get", "sudo"]);

const systemPrograms =
  "sh cksum cat touch mv rm ln ls readlink dirname uname sed tail cut tr paste sleep ps env true mkdir chmod printf kill grep".split(
    " ",
  );

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

function sayingOf(stream: NodeJS.ReadableStream, words: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let heard = "";
  stream.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
    if (heard.includes(words)) resolve();
  });
  stream.on("end", () => reject(new Error(`ended without saying ${words}: ${heard}`)));
  return promise;
}
