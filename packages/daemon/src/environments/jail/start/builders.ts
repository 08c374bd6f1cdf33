import type { ProcessIdentity } from "@corral/protocol";
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { mustHavePipes } from "../../../descriptors/index.ts";
import { keeperFifos } from "../../keeper/index.ts";
import { identify, isAlive } from "../../system/process-identity.ts";
import { quoted } from "../../system/quoting.ts";
import { unavailable } from "./bubblewrap.ts";

/** The descriptors of a builder, and of the bubblewrap that it becomes. */
const optionsFd = 3;
const infoFd = 4;
export const seccompFd = 5;
/** Of the one that makes the FIFOs. */
const spoolFd = 6;
/** Where bubblewrap reads the settings of the kernel that its orders name. */
export const settingFds = [7, 8] as const;

/**
 * A builder is a small shell that is told about one jail, puts itself under the jail's limits and becomes its bubblewrap. Forking this
 * process, with all its memory, costs as much as running bubblewrap itself. So one builder is started ahead.
 *
 * 1. A waiting builder knows of no jail. It has an empty environment, and no descriptors but its own pipes.
 * 2. At most one builder waits. A caller that needs a second one at the same time starts it itself.
 * 3. A builder ends when its owner is gone, in whatever way, because its pipe then reaches its end. It keeps no process alive.
 */
export class Builders {
  #waiting: Builder | undefined;

  take(): Builder {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    // It may have been ended while it waited.
    if (waiting?.identity === undefined || !isAlive(waiting.identity)) return startBuilder();
    hold(waiting.process, "ref");
    return waiting;
  }

  /** To be called when this process has nothing better to do. */
  prepare(): void {
    if (this.#waiting !== undefined) return;
    try {
      const builder = startBuilder();
      hold(builder.process, "unref");
      if (builder.identity !== undefined) this.#waiting = builder;
    } catch {
      // The next jail starts its own, and tells what is wrong.
    }
  }
}

/** This process's own: what it costs to start another depends on the process, and drivers come and go. */
export const ownBuilders = new Builders();

export interface Builder {
  readonly process: ChildProcess;
  /** Undefined when it could not be started, or has ended at once. */
  readonly identity: ProcessIdentity | undefined;
  /** Takes the orders, as one line, then `doorsOpen`, and then, to its end, bubblewrap's options. */
  readonly line: Writable;
  readonly info: Readable;
  /** Takes, to its end, the program that decides on system calls: bubblewrap reads it as `seccompFd`. */
  readonly seccomp: Writable;
  /** Takes the host folder in which the keeper finds its FIFOs, see `spoolLine`. */
  readonly spool: Writable;
}

/** What a builder does before it becomes bubblewrap. */
export interface Orders {
  /** Files that it puts itself under the limits by. */
  readonly doors: readonly string[];
  /** Settings of the kernel for the jail alone: what bubblewrap reads from each of `settingFds`. */
  readonly settings?: readonly [string, string] | undefined;
  readonly bubblewrap: string;
  /** What runs in the jail. */
  readonly command: readonly string[];
}

/** Told when what is behind the doors is there. A shell reads byte by byte: it takes its orders in while that is made. */
export const doorsOpen = "\n";

export function orderLine({ doors, settings = ["", ""], bubblewrap, command }: Orders): string {
  return lineOf([...doors, "--", ...settings, bubblewrap, "--args", String(optionsFd), "--", ...command]);
}

export function spoolLine(spool: string): string {
  return lineOf([spool]);
}

function lineOf(words: readonly string[]): string {
  return `${words.map((word) => quoted(word).replaceAll("\n", `'"$newline"'`)).join(" ")}\n`;
}

export const infoOptions: readonly string[] = ["--info-fd", String(infoFd)];

/**
 * Enters the cgroups and becomes bubblewrap. A child, forked before anyone waits, makes the keeper's FIFOs once bubblewrap has what it
 * needs. A shell reads no more than one line from a pipe. Only the jail's user can enter the folder of the FIFOs, and the agent has not
 * run anything yet.
 *
 * A core dump limit of one byte makes the kernel skip the dump handler, which it would otherwise run as root outside the jail. With a limit of 0
 * the handler does run. No shell can set one byte, and a process with a limit of 0 cannot raise it.
 *
 * The kernel's audit log names the login user in each record. Where nobody logged in, as in a service, any process may set that user once. So this one does.
 */
const builderScript = `
newline='
'
{
  IFS= read -r orders <&${spoolFd} && eval "set -- $orders" && cd "$1" && umask 0 &&
    PATH=/usr/bin:/bin exec mkfifo ${keeperFifos.join(" ")} ${spoolFd}<&-
} <&- ${optionsFd}<&- ${infoFd}<&- ${seccompFd}<&- 2>/dev/null &
exec ${spoolFd}<&-
PATH=/usr/bin:/bin prlimit --core=1:1 --pid $$ 2>/dev/null || ulimit -c 0
read -r login 2>/dev/null </proc/$$/loginuid
[ "$login" != 4294967295 ] || echo "$1" 2>/dev/null >/proc/$$/loginuid
IFS= read -r orders <&${optionsFd} || exit
eval "set -- $orders"
read -r word <&${optionsFd} || exit
until [ "$1" = -- ]; do
  echo 0 >"$1" || exit
  shift
done
shift
if [ -n "$1" ]; then
  exec ${settingFds[0]}<<end ${settingFds[1]}<<end
$1
end
$2
end
fi
shift 2
exec "$@"`;

function startBuilder(): Builder {
  const cover = openSync("/dev/null", "r");
  try {
    const options = { stdio: descriptors(cover), env: {}, cwd: "/", detached: true };
    const child = spawn("/bin/sh", ["-c", builderScript, "sh", String(process.getuid?.())], options);
    // Whoever takes it listens, too, or finds it dead.
    child.on("error", () => undefined);
    mustHavePipes(child);
    const [line, seccomp, spool] = [optionsFd, seccompFd, spoolFd].map((fd) => child.stdio[fd] as Writable) as [
      Writable,
      Writable,
      Writable,
    ];
    // It may have ended by itself already; its exit tells more than the broken pipe.
    for (const stream of [line, seccomp, spool, child.stdin!]) stream.on("error", () => undefined);
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    return { process: child, identity, line, info: child.stdio[infoFd] as Readable, seccomp, spool };
  } finally {
    closeSync(cover);
  }
}

function hold(child: ChildProcess, how: "ref" | "unref"): void {
  child[how]();
  for (const stream of child.stdio) (stream as Socket | null)?.[how]();
}

/**
 * What Node opens closes on exec; what this process itself was started with may not, and would be open
 * in the jail, so each such descriptor is covered with /dev/null. ("ignore" leaves alone what is
 * beyond the first three.)
 */
function descriptors(cover: number): StdioOptions {
  const stdio: (number | "ignore" | "pipe")[] = ["pipe", "ignore", "pipe", "pipe", "pipe", "pipe", "pipe"];
  for (const fd of inherited()) {
    while (stdio.length <= fd) stdio.push("ignore");
    if (fd > spoolFd) stdio[fd] = cover;
  }
  return stdio;
}

let knownInherited: number[] | undefined;

/** They are as old as this process, so they are looked for once. */
function inherited(): number[] {
  knownInherited ??= readdirSync("/proc/self/fd").map(Number).filter(staysOpenOnExec);
  if (knownInherited.some((fd) => fd > 4096)) {
    throw unavailable("this process was started with open descriptors.", "Start Corral from a plain shell.");
  }
  return knownInherited;
}

function staysOpenOnExec(fd: number): boolean {
  const closeOnExec = 0o2000000;
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}
