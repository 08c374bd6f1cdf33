import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { beginLine, keeperFifos, readyLine } from "../keeper.ts";
import { identify } from "../process-identity.ts";
import { fixFor, unavailable } from "./bubblewrap.ts";

/** The descriptors of bubblewrap: its options come by one, so that no host path is in its argv. */
const optionsFd = 3;
const infoFd = 4;
export const firstPassedFd = 5;

const startDeadlineMs = 20_000;

/**
 * Starts bubblewrap in a session of its own, with no environment and no descriptor but the ones
 * named here, and resolves with the process whose death ends the jail: its pid 1. It begins only
 * after `record` has put that process on file.
 */
export async function startJail(start: JailStart): Promise<ProcessIdentity> {
  const child = spawnAlone(start);
  const [info, complaint] = [collect(child.stdio[infoFd] as Readable), collect(child.stderr!)];
  const isReady = ready(child, complaint);
  // Whatever is thrown first is told.
  isReady.catch(() => undefined);
  try {
    // It waits, first at the doors and then for its options, so what is made in the meantime costs its start nothing.
    const options = child.stdio[optionsFd] as Writable;
    options.on("error", () => undefined);
    if (child.pid !== undefined) start.limit(child.pid);
    options.write(enterLine);
    feed(
      options,
      ["--info-fd", String(infoFd), ...(await start.options())].map((each) => `${each}\0`),
    );
    const supervisor = await Promise.race([firstProcess(info), isReady.then(() => undefined)]);
    if (supervisor !== undefined) {
      start.record(supervisor);
      feed(child.stdin!, [`${beginLine}\n`]);
    }
    await isReady;
    if (supervisor === undefined) throw unavailable("bubblewrap did not tell its first process", fixFor(""));
    return supervisor;
  } catch (error) {
    child.kill("SIGKILL");
    const pid = childPid(info.text);
    if (pid !== undefined) killUnstarted(pid, child);
    throw error;
  } finally {
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
}

/**
 * Makes the keeper's FIFOs, beside everything else, goes through the doors and becomes bubblewrap. A shell reads from a pipe no more than
 * the line. Nobody but the jail's user comes into the folder of the FIFOs, and nothing of the agent has run yet.
 */
const builderScript = `
{ cd "$1" && umask 0 && PATH=/usr/bin:/bin exec mkfifo ${keeperFifos.join(" ")}; } 3<&- 4<&- 2>/dev/null &
shift
read -r word <&${optionsFd} || exit
until [ "$1" = -- ]; do
  echo 0 >"$1" || exit
  shift
done
shift
exec "$@"`;
const enterLine = "enter\n";

function spawnAlone({ bubblewrap, command, spool, doors, passed }: JailStart): ChildProcess {
  const cover = openSync("/dev/null", "r");
  try {
    const stdio = descriptors(passed, cover);
    const build = [bubblewrap, "--args", String(optionsFd), "--", ...command];
    return spawn("/bin/sh", ["-c", builderScript, "sh", spool, ...doors, "--", ...build], {
      stdio,
      env: {},
      cwd: "/",
      detached: true,
    });
  } finally {
    closeSync(cover);
  }
}

export interface JailStart {
  readonly bubblewrap: string;
  /** Asked for when everything else is there. */
  readonly options: () => Promise<readonly string[]>;
  readonly command: readonly string[];
  /** Descriptors handed on, as `firstPassedFd` and the following ones. */
  readonly passed: readonly number[];
  /** Host folder in which the keeper finds its FIFOs. */
  readonly spool: string;
  /** Files that bubblewrap puts itself under the limits by, before it begins. */
  readonly doors: readonly string[];
  /** Makes what is behind the doors, for the process that waits before them. */
  readonly limit: (pid: number) => void;
  /** Writes the jail's first process down where a sweep finds it. */
  readonly record: (supervisor: ProcessIdentity) => void;
}

interface Collected {
  readonly stream: Readable;
  text: string;
}

function collect(stream: Readable): Collected {
  const collected: Collected = { stream, text: "" };
  stream.on("data", (chunk: Buffer) => (collected.text += chunk.toString("utf8")));
  stream.on("error", () => undefined);
  return collected;
}

function feed(stream: Writable, words: readonly string[]): void {
  // It may have ended by itself already; its exit tells more than the broken pipe.
  stream.on("error", () => undefined);
  stream.end(words.join(""));
}

function ready(child: ChildProcess, complaint: Collected): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const deadline = setTimeout(() => reject(unavailable("it did not start in time", fixFor(""))), startDeadlineMs);
  child.once("error", (cause) => reject(new CorralError("jail.unavailable", "bubblewrap did not start.", { cause })));
  child.once("close", () => {
    const reason = complaint.text.trim() || "bubblewrap ended without a word";
    reject(unavailable(reason, fixFor(reason)));
  });
  complaint.stream.on("data", () => {
    if (complaint.text.includes(readyLine)) resolve();
  });
  return promise.finally(() => clearTimeout(deadline));
}

/** Undefined when it ended before it told: then its complaint says why. */
async function firstProcess(info: Collected): Promise<ProcessIdentity | undefined> {
  while (childPid(info.text) === undefined && !info.stream.readableEnded) {
    const { promise, resolve } = Promise.withResolvers<void>();
    info.stream.once("data", () => resolve());
    info.stream.once("end", () => resolve());
    await promise;
  }
  const pid = childPid(info.text);
  return pid === undefined ? undefined : identify(pid);
}

function childPid(info: string): number | undefined {
  const match = /"child-pid":\s*(\d+)\D/.exec(info);
  return match === null ? undefined : Number(match[1]);
}

/** While bubblewrap, its parent, has not been collected, the number cannot have passed to a stranger. */
function killUnstarted(pid: number, parent: ChildProcess): void {
  if (parent.exitCode !== null || parent.signalCode !== null) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * What Node opens closes on exec; what this process itself was started with may not, and would be open
 * in the jail, so each such descriptor is covered with /dev/null. ("ignore" leaves alone what is
 * beyond the first three.)
 */
function descriptors(passed: readonly number[], cover: number): StdioOptions {
  const stdio: (number | "ignore" | "pipe")[] = ["pipe", "ignore", "pipe", "pipe", "pipe", ...passed];
  for (const fd of inherited()) {
    while (stdio.length <= fd) stdio.push("ignore");
    if (fd >= firstPassedFd + passed.length) stdio[fd] = cover;
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
