import { CorralError, type ProcessIdentity } from "@corral/protocol";
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { beginLine, readyLine } from "../../keeper/index.ts";
import { identify, leftInSession, signal } from "../../system/process-identity.ts";
import { fixFor, unavailable } from "./bubblewrap.ts";
import { type Builders, doorsOpen, infoOptions, orderLine, type Orders, spoolLine } from "./builders.ts";

/** One that breaks is known by its end: this is for one that hangs, not for a machine that has much else to do. */
const startDeadlineMs = 60_000;

/**
 * Has a builder start bubblewrap in a session of its own, with an empty environment and only the descriptors that it needs. Resolves
 * with the jail's pid 1, whose death ends the jail. That process begins only after `record` has written its identity to disk.
 */
export async function startJail(builders: Builders, start: JailStart): Promise<ProcessIdentity> {
  const { process: child, identity, line, info: infoStream, seccomp, spool } = builders.take();
  const [info, complaint] = [collect(infoStream), collect(child.stderr!)];
  const isReady = ready(child, complaint, start.deadlineMs ?? startDeadlineMs);
  // Whatever is thrown first is told.
  isReady.catch(() => undefined);
  try {
    line.write(orderLine(start.orders));
    start.limit(identity);
    line.write(doorsOpen);
    // It goes through the doors and loads meanwhile.
    const walls = start.walls();
    seccomp.end(walls.seccomp);
    line.end(optionWords([...infoOptions, ...walls.options]));
    // It builds meanwhile; nothing of the agent runs before the word to begin.
    start.tighten();
    // The keeper, who would make them itself, comes last: whoever makes them now would take the processor from those who are needed first.
    void walls.covered.finally(() => spool.end(spoolLine(walls.spool)));
    const supervisor = await Promise.race([firstProcess(info), isReady.then(() => undefined)]);
    if (supervisor !== undefined) {
      start.record(supervisor);
      child.stdin!.end(`${beginLine}\n`);
    }
    await isReady;
    if (supervisor === undefined) throw unavailable("bubblewrap did not tell its first process", fixFor(""));
    // Whoever waits for this jail goes first.
    setImmediate(() => builders.prepare());
    return supervisor;
  } catch (error) {
    killUnstarted(child, identity, childPid(info.text));
    throw error;
  } finally {
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
}

export interface JailStart {
  readonly orders: Orders;
  /** Asked for while the builder, who has its orders, becomes bubblewrap. */
  readonly walls: () => Walls;
  /** Puts the jail on file and makes what is behind the doors, for the process that waits before them. */
  readonly limit: (builder: ProcessIdentity | undefined) => void;
  /** Sets the limits: when it returns, whoever is behind the doors is held to them. Called before the first process begins. */
  readonly tighten: () => void;
  /** Writes the jail's first process down where a sweep finds it. */
  readonly record: (supervisor: ProcessIdentity) => void;
  /** How long it may take. */
  readonly deadlineMs?: number;
}

export interface Walls {
  /** Of bubblewrap. */
  readonly options: readonly string[];
  /** The program that decides on system calls. */
  readonly seccomp: Buffer;
  /** Host folder in which the keeper finds its FIFOs. */
  readonly spool: string;
  /** Resolves when what is covered is there, or cannot be. */
  readonly covered: Promise<void>;
}

/** A zero byte ends each of them, so one within a path or a variable would begin an option of its own. */
function optionWords(options: readonly string[]): string {
  if (options.some((each) => each.includes("\0")))
    throw new CorralError("request.invalid", "A path or a variable of a jail has a zero byte in it.");
  return options.map((each) => `${each}\0`).join("");
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

function ready(child: ChildProcess, complaint: Collected, deadlineMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = () => reject(unavailable("it did not start in time", fixFor("")));
  // What it has said by then is read first, however late this process comes to it.
  const deadline = setTimeout(() => setImmediate(giveUp), deadlineMs);
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

/**
 * Both processes of a bubblewrap. The inner one waits for the outer one without a time limit until its pid was reported. Until then it is in
 * the same process group; afterwards it has a session of its own and its pid is known. As long as the outer one was not reaped, neither pid can
 * belong to another process. If somebody killed the outer one before it reported, the inner one is still in its session.
 */
function killUnstarted(outer: ChildProcess, leader: ProcessIdentity | undefined, inner: number | undefined): void {
  if (outer.pid === undefined) return;
  if (outer.exitCode !== null || outer.signalCode !== null) {
    if (leader !== undefined) for (const left of leftInSession(leader)) signal(left, "SIGKILL");
    return;
  }
  for (const pid of [-outer.pid, ...(inner === undefined ? [] : [inner])]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
