import { CorralError } from "@corral/protocol";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { lstatSync, readlinkSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { mustHavePipes } from "../descriptors/index.ts";
import { fault } from "../faults/index.ts";
import { findSystemExecutable } from "../executables/index.ts";
import { asVariables, inert } from "./git.ts";

/**
 * A jail for git alone, in which it may look at what an agent wrote. It sees the system's programs, the workspace
 * and some folders to read, and one folder of Corral's own to write (or, to restore files, the workspace alone); there is no network, no process but itself, and nothing
 * of the user's. Links in the workspace lead nowhere else. Settings, hooks and filters of the workspace are not obeyed,
 * for the git folder is Corral's own.
 */
export interface GitJail {
  /** Host folder, at `/workspace` inside. */
  readonly workspace: string;
  /** Host folders that are readable at the same place inside. */
  readonly readable: readonly string[];
  /** Host folder of Corral's own, at `/depot` inside, writable there. */
  readonly depot: string;
  /** Who the programs are inside, when this process is root. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** What is writable inside; without: the depot. */
  readonly writes?: "workspace";
  /** Files and folders of the workspace that show as empty. Each byte of a path is a character (latin1). */
  readonly covered?: readonly string[] | undefined;
}

export const insideGitJail = { workspace: "/workspace", depot: "/depot" } as const;

export interface JailedOptions {
  readonly input?: string | Uint8Array;
  /** Instead of `input`: asked, whenever a record ends what was said so far, what to say to that; undefined: nothing yet. */
  readonly reply?: Reply | undefined;
  readonly variables?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** More output than this is an error; the answer then has so much of it. */
  readonly maxBytes?: number;
}

export type Reply = (said: Buffer) => Uint8Array | undefined;

export interface JailedAnswer {
  readonly ok: boolean;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** There was more than wanted. */
  readonly isCut?: boolean;
}

/** Runs a program in the jail. Throws `jail.unavailable` without bubblewrap, and when the signal aborts. */
export async function runJailed(
  jail: GitJail,
  argv: readonly string[],
  options: JailedOptions = {},
): Promise<JailedAnswer> {
  const { maxBytes = 256 * 2 ** 20 } = options;
  const child = startJailed(jail, argv, options);
  child.stdin.on("error", () => undefined);
  if (options.reply === undefined) child.stdin.end(options.input ?? "");
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes - chunk.length < maxBytes) chunks.push(chunk);
    if (bytes > maxBytes) child.kill("SIGKILL");
    else if (options.reply !== undefined && !child.stdin.writableEnded && chunk.at(-1) === 0) answer(options.reply);
  });
  const { code, stderr } = await child.ended;
  child.stdin.destroy();
  const beginning = () => Buffer.concat(chunks).subarray(0, maxBytes);
  if (bytes > maxBytes) return { ok: false, stdout: beginning(), stderr: "there was too much of it", isCut: true };
  return { ok: code === 0, stdout: Buffer.concat(chunks), stderr };

  function answer(reply: Reply): void {
    const words = reply(Buffer.concat(chunks));
    if (words !== undefined) child.stdin.end(words);
  }
}

export type Jailed = ChildProcessByStdio<Writable, Readable, Readable> & {
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
};

/** The same, for output that is passed on. */
export function startJailed(
  jail: GitJail,
  argv: readonly string[],
  { variables = {}, signal }: JailedOptions = {},
): Jailed {
  // Nothing is started only to be ended: in its first moment a bubblewrap cannot be ended whole.
  signal?.throwIfAborted();
  const bubblewrap = findSystemExecutable("bwrap");
  if (bubblewrap === undefined)
    throw new CorralError("jail.unavailable", "Git cannot be jailed: bubblewrap is not installed.", {
      hint: "Install bubblewrap",
    });
  const args = [...walls(jail, { ...environment, ...variables }), "--", ...bounded(jail, argv)];
  const bound = AbortSignal.any([AbortSignal.timeout(longestMs), ...(signal === undefined ? [] : [signal])]);
  const started = spawn(bubblewrap, args, {
    env: {},
    cwd: "/",
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    signal: bound,
    killSignal: "SIGKILL",
    // A group of its own, for `endGroup`.
    detached: true,
  });
  const child = mustHavePipes(started as ChildProcessByStdio<Writable, Readable, Readable>);
  fault("git.jailed");
  const end = () => endGroup(child.pid);
  bound.addEventListener("abort", end, { once: true });
  child.once("close", () => bound.removeEventListener("abort", end));
  const covers = child.stdio[coversAt] as unknown as Writable;
  covers.on("error", () => undefined);
  covers.end(coversOf(jail));
  return Object.assign(child, { ended: endOf(child) });
}

/** The descriptor that names of what is covered come by: they may be no text, and many. */
const coversAt = 3;

function coversOf({ covered = [] }: GitJail): Buffer {
  const paths = covered.map((path) => `${insideGitJail.workspace}/${path}`);
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
}

/**
 * Both halves of a bubblewrap: the inner one is not told of the other's end before it has its namespaces, and would wait
 * for ever. Until then it is of the same group.
 */
function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/**
 * The walls stand before anything is covered: on the way to a path lie folders that an agent may replace by links at any moment,
 * and while bubblewrap builds, those lead to the machine. Inside they can lead to nothing that counts outside.
 */
const cover = `
: >/tmp/.empty && mkdir /tmp/.nothing || exit 1
xargs -0 -r sh -c '
for path do
  if [ -L "$path" ] || [ ! -e "$path" ]; then continue; fi
  if [ -d "$path" ]; then with=/tmp/.nothing; else with=/tmp/.empty; fi
  mount -n --bind "$with" "$path" || exit 255
done' sh <&${coversAt} || exit 1
exec "$@" ${coversAt}<&-`;

/** What covering needs; the programs that come after it are left with none. */
const coveringCaps = ["SYS_ADMIN", "DAC_READ_SEARCH", "SETPCAP"];

/** A workspace that keeps git busy for longer is not worth more of it. */
const longestMs = 300_000;
const memoryKiB = 4 * 2 ** 20;
/** In blocks of 512 bytes. */
const largestFile = 8 * 2 ** 21;

function endOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Jailed["ended"] {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<Jailed["ended"]>>();
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < 20_000) stderr += chunk.toString("utf8");
  });
  child.on("error", reject);
  child.on("close", (code) => resolve({ code, stderr }));
  return promise;
}

/** Git with nothing to obey but what is said here: no settings, helpers, replaced objects or hints about objects. */
const environment = {
  ...inert,
  PATH: "/usr/bin:/bin",
  GIT_DIR: insideGitJail.depot,
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_CEILING_DIRECTORIES: "/",
  ...asVariables({
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.commitGraph": "false",
    "core.multiPackIndex": "false",
    "core.untrackedCache": "false",
    "core.bigFileThreshold": "16m",
    "core.packedGitWindowSize": "64m",
    "core.packedGitLimit": "1g",
    "core.alternateRefsCommand": "true",
    "gc.auto": "0",
    "pack.useBitmaps": "false",
    "pack.threads": "1",
    "protocol.allow": "never",
    "safe.directory": "*",
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "all",
  }),
};

function walls(jail: GitJail, variables: Readonly<Record<string, string>>): string[] {
  const { workspace, readable, depot, writes } = jail;
  return [
    ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"],
    ["--new-session", "--die-with-parent"],
    ...privileges(jail),
    ["--ro-bind", "/usr", "/usr"],
    ...systemFolders(),
    ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
    ["--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"],
    ...readable.flatMap((path) => [...ancestors(path), ["--ro-bind", path, path]]),
    [writes === "workspace" ? "--bind" : "--ro-bind", workspace, insideGitJail.workspace],
    [writes === "workspace" ? "--ro-bind" : "--bind", depot, insideGitJail.depot],
    ["--remount-ro", "/"],
    ["--chdir", "/", "--clearenv"],
    ...Object.entries(variables).map(([name, value]) => ["--setenv", name, value]),
  ].flat();
}

function privileges(jail: GitJail): string[][] {
  const added = (caps: readonly string[]) => caps.flatMap((cap) => ["--cap-add", `CAP_${cap}`]);
  const covering = isCovering(jail) ? coveringCaps : [];
  if (isRoot()) return [["--cap-drop", "ALL"], added([...new Set(["SETUID", "SETGID", "SETPCAP", ...covering])])];
  if (covering.length === 0) return [["--unshare-user", "--disable-userns"]];
  return [["--unshare-user", "--uid", "0", "--gid", "0"], added(covering)];
}

/** Limits come from a shell: every system has one. */
function bounded(jail: GitJail, argv: readonly string[]): string[] {
  const limited = ["/bin/sh", "-c", `ulimit -v ${memoryKiB}; ulimit -f ${largestFile}; exec "$@"`, "sh", ...argv];
  if (!isCovering(jail)) return isRoot() && jail.user !== undefined ? [...stripped(jail), ...limited] : limited;
  return ["/bin/sh", "-c", cover, "sh", ...stripped(jail), ...limited];
}

/** As the user that is meant, without any rights. */
function stripped({ user }: GitJail): string[] {
  const setpriv = findSystemExecutable("setpriv");
  if (setpriv === undefined)
    throw new CorralError("jail.unavailable", "Git cannot be jailed: setpriv is not installed.", {
      hint: "Install util-linux",
    });
  const become =
    user === undefined || !isRoot() ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  return [setpriv, ...become, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"];
}

function isCovering({ covered = [] }: GitJail): boolean {
  return covered.length > 0;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function ancestors(path: string): string[][] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, depth) => ["--perms", "0755", "--dir", `/${names.slice(0, depth + 1).join("/")}`]);
}

function systemFolders(): string[][] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return [found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path]];
  });
}
